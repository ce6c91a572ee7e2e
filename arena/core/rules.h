/* What the compiled games share. Each game is a file with the names of its Python module, which says the why.

   Python stays the reference: tests step both side by side. A state here has the same fields as the Python state, and
   both are converted into each other by the bytes of the view, which show all of it. */

#ifndef ARENA_RULES_H
#define ARENA_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dice.h"
#include "wire.h"

enum { MOST_SEATS = 5, MOST_OPTIONS = 290 };

/* Legal actions of a seat: a range of numbers if `count` is not 0, as Python gives one; else a set of numbers below 64,
   whose bit n is action n. */
typedef struct {
    uint64_t set;
    uint8_t first, count;
} Legal;

static inline bool is_legal(const Legal *legal, uint64_t action) {
    if (legal->count)
        return action >= legal->first && action < (uint64_t)legal->first + legal->count;
    return action < 64 && legal->set >> action & 1;
}

/* --- Buttons; a set of cells is a number whose bit n is cell n */

enum { CELLS = 36, SIDES = 2, BOARDS = 4, ALL_DICE = 6 };

typedef struct {
    uint8_t seats, phase, active, starter;
    uint8_t dice_count;
    uint8_t dice[ALL_DICE]; /* white, gold black, plain blacks */
    int round, turn, max_rounds;
    bool has_sides, has_boards, has_cards;
    char sides[BOARDS][SIDES][CELLS];
    char boards[BOARDS][CELLS];
    uint8_t cards[BOARDS]; /* bit n is the n-th of R, B, Y, G */
    uint64_t buttons[BOARDS], stars[BOARDS];
    uint8_t status[BOARDS], due[BOARDS];
} ButtonsState;

/* --- BIRTH; a heap has four bits for the number of each face, ones lowest */

enum { SPACES = 15, AREA_KINDS = 5, HAND = 11, BIRTH_SEATS = 3 };

typedef uint32_t Heap;

typedef struct {
    uint8_t seats;
    uint8_t areas[SPACES], start;
    int turn;
    uint8_t pawns[BIRTH_SEATS];
    Heap hands[BIRTH_SEATS];
    Heap placed[AREA_KINDS][BIRTH_SEATS];
} BirthState;

/* --- Burning Desire */

enum { DESIRE_DICE = 7 };

typedef struct {
    uint8_t seats;
    uint8_t stage, phase, current, rolls;
    int8_t trigger; /* -1: none */
    uint8_t queue[MOST_SEATS], queued;
    uint8_t dice[DESIRE_DICE]; /* the bonus die last */
    int goal, max_turns, multiplications;
    int turns[MOST_SEATS];
    int64_t score, totals[MOST_SEATS];
} DesireState;

typedef union {
    uint8_t seats;
    ButtonsState buttons;
    BirthState birth;
    DesireState desire;
} State;

/* The rules of one game. `options` are its options as bytes: see `encoded_options` in games.py. */
typedef struct {
    const char *name;
    uint8_t least_seats, most_seats;
    size_t option_bytes;
    void (*start)(State *state, int seats, Dice *dice, const uint8_t *options);
    /* Fills in the legal actions of the seats that must decide; returns these seats as a set, 0 at the end. */
    unsigned (*pending)(const State *state, Legal *legal);
    /* `decisions` is indexed by seat, and legal. */
    void (*apply)(State *state, const uint8_t *decisions, Dice *dice);
    void (*ranks)(const State *state, int *ranks);
    void (*scores)(const State *state, int64_t *scores);
    int (*default_action)(const State *state, int seat);
    void (*wire_view)(const State *state, Wire *view);
    /* Makes the state that a view shows; false if it shows none. */
    bool (*read)(State *state, const uint8_t *options, Reader view);
    /* Whether the numbers of every state that one step can lead to fit in here; Python's have no end. */
    bool (*fits)(const State *state);
    /* What a greedy player takes of several legal actions. */
    int (*greedy)(const State *state, int seat, const Legal *legal);
    /* What a seat sees, in a row of so many numbers that are 0 before. */
    size_t row;
    void (*observe)(const State *state, int seat, float *row);
    int actions; /* actions are below this */
} Rules;

/* --- Rows of what learners see: see arena/games/observation.py */

/* A number as a share of a usual one, 1 at most. */
static inline double share(double value, double of) { return value < of ? value / of : 1.0; }

/* Puts a 1 at an index, if there is one; returns what follows so many numbers. */
static inline float *put_one(float *row, int index, int size) {
    if (index >= 0 && index < size)
        row[index] = 1;
    return row + size;
}

extern const Rules BUTTONS, BIRTH, BURNING_DESIRE;

#endif
