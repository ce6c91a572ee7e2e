/* Luck by HMAC-SHA256 of the seed (RFC 2104, FIPS 180-4): see arena/games/dice.py. */

#include "dice.h"

#include <string.h>

static const uint32_t ROUND[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turned(uint32_t word, int bits) { return word >> bits | word << (32 - bits); }

/* Takes one block of 64 bytes into a SHA-256. */
static void take_in(uint32_t sum[8], const uint8_t block[64]) {
    uint32_t word[64];
    for (int i = 0; i < 16; i++)
        word[i] = (uint32_t)block[4 * i] << 24 | block[4 * i + 1] << 16 | block[4 * i + 2] << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t early = word[i - 15], late = word[i - 2];
        word[i] = word[i - 16] + word[i - 7] + (turned(early, 7) ^ turned(early, 18) ^ early >> 3) +
                  (turned(late, 17) ^ turned(late, 19) ^ late >> 10);
    }
    uint32_t a = sum[0], b = sum[1], c = sum[2], d = sum[3], e = sum[4], f = sum[5], g = sum[6], h = sum[7];
    for (int i = 0; i < 64; i++) {
        uint32_t first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[i] + word[i];
        uint32_t second = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
    }
    sum[0] += a, sum[1] += b, sum[2] += c, sum[3] += d, sum[4] += e, sum[5] += f, sum[6] += g, sum[7] += h;
}

/* Finishes a SHA-256 that took in one block before, with a rest of at most 55 bytes. */
static void finish(const uint32_t begun[8], const uint8_t *rest, unsigned length, uint8_t digest[32]) {
    uint8_t block[64] = {0};
    uint32_t sum[8];
    unsigned bits = 8 * (64 + length);
    memcpy(sum, begun, sizeof sum);
    memcpy(block, rest, length);
    block[length] = 0x80;
    block[62] = bits >> 8, block[63] = bits & 255;
    take_in(sum, block);
    for (int i = 0; i < 32; i++)
        digest[i] = sum[i / 4] >> (24 - 8 * (i % 4));
}

void seed_dice(Dice *dice, const uint8_t seed[32]) {
    static const uint32_t begin[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    uint8_t inner[64], outer[64];
    for (int i = 0; i < 64; i++) {
        uint8_t byte = i < 32 ? seed[i] : 0;
        inner[i] = byte ^ 0x36, outer[i] = byte ^ 0x5c;
    }
    memcpy(dice->inner, begin, sizeof begin);
    memcpy(dice->outer, begin, sizeof begin);
    take_in(dice->inner, inner);
    take_in(dice->outer, outer);
    dice->is_fast = false;
}

/* --- Keys */

static void add_text(Key *key, const char *text) {
    size_t length = strlen(text);
    memcpy(key->text + key->length, text, length);
    key->length += length;
}

static void add_number(Key *key, unsigned number) {
    char digits[10];
    int count = 0;
    do
        digits[count++] = '0' + number % 10;
    while (number /= 10);
    while (count)
        key->text[key->length++] = digits[--count];
}

Key word_key(const char *word) { return and_word((Key){.length = 0}, word); }

Key and_word(Key key, const char *word) {
    add_text(&key, word);
    return key;
}

Key key(const char *first, int number) { return and_key((Key){.length = 0}, first, number); }

Key and_key(Key key, const char *more, int number) {
    add_text(&key, more);
    add_number(&key, number);
    return key;
}

/* --- The stream of bytes that a key gives */

typedef struct {
    const Dice *dice;
    const Key *key;
    unsigned block, used;
    uint8_t bytes[32];
} Stream;

static uint8_t next(Stream *stream) {
    if (stream->used == 32) {
        Key message = and_key(*stream->key, "/", stream->block++);
        uint8_t inner[32];
        finish(stream->dice->inner, (const uint8_t *)message.text, message.length, inner);
        finish(stream->dice->outer, inner, sizeof inner, stream->bytes);
        stream->used = 0;
    }
    return stream->bytes[stream->used++];
}

/* The next usable byte modulo `bound`: bytes that would make low numbers more likely are skipped. */
static uint8_t below(Stream *stream, unsigned bound) {
    unsigned limit = 256 - 256 % bound;
    uint8_t byte;
    do
        byte = next(stream);
    while (byte >= limit);
    return byte % bound;
}

void roll(Dice *dice, Key key, int count, uint8_t *faces) {
    for (int i = 0; dice->is_fast && i < count; i++)
        faces[i] = fast_below(dice, 6) + 1;
    if (dice->is_fast)
        return;
    Stream stream = {dice, &key, .used = 32};
    for (int i = 0; i < count; i++)
        faces[i] = below(&stream, 6) + 1;
}

void draw(Dice *dice, Key key, int count, const uint8_t *bounds, uint8_t *drawn) {
    for (int i = 0; dice->is_fast && i < count; i++)
        drawn[i] = fast_below(dice, bounds[i]);
    if (dice->is_fast)
        return;
    Stream stream = {dice, &key, .used = 32};
    for (int i = 0; i < count; i++)
        drawn[i] = below(&stream, bounds[i]);
}
