/* Dice of real matches: see arena/games/dice.py. */

#ifndef ARENA_DICE_H
#define ARENA_DICE_H

#include <stdint.h>

typedef struct {
    uint32_t inner[8], outer[8]; /* what SHA-256 has taken in of the seed, in both halves of HMAC */
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
void roll(const Dice *dice, Key key, int count, uint8_t *faces);
/* Draws one number below each bound. */
void draw(const Dice *dice, Key key, int count, const uint8_t *bounds, uint8_t *drawn);

#endif
