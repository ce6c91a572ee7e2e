/* Dice of real matches: see arena/games/dice.py. */

#ifndef ARENA_DICE_H
#define ARENA_DICE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t inner[8], outer[8]; /* what SHA-256 has taken in of the seed, in both halves of HMAC */
    bool is_fast;                /* whether it is a FastDice of Python instead, which does not look at keys */
    uint64_t fast;               /* its state */
} Dice;

/* The key of a roll: text and numbers in turn, as in round/3/turn/12. */
typedef struct {
    char text[64];
    unsigned length;
} Key;

Key key(const char *first, int number);
Key and_key(Key key, const char *more, int number);
Key and_word(Key key, const char *word);
Key word_key(const char *word);

void seed_dice(Dice *dice, const uint8_t seed[32]);
void roll(Dice *dice, Key key, int count, uint8_t *faces);
/* Draws one number below each bound. */
void draw(Dice *dice, Key key, int count, const uint8_t *bounds, uint8_t *drawn);

/* --- SplitMix64 (Steele, Lea and Flood, 2014), as FastDice in Python */

static inline uint64_t next_fast(Dice *dice) {
    uint64_t mixed = dice->fast += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}

static inline uint32_t fast_below(Dice *dice, uint32_t bound) { return (next_fast(dice) >> 32) * bound >> 32; }

#endif
