/* Protobuf's wire format, written into and read from memory: see arena/games/encoding.py. */

#ifndef ARENA_WIRE_H
#define ARENA_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* --- Writing: `bytes` has room for what is written, which every caller knows beforehand */

typedef struct {
    uint8_t *bytes;
    size_t length;
} Wire;

enum { VARINT = 0, FIXED64 = 1, BLOCK = 2, FIXED32 = 5 };

static inline void put_varint(Wire *wire, uint64_t number) {
    for (; number > 127; number >>= 7)
        wire->bytes[wire->length++] = (number & 127) | 128;
    wire->bytes[wire->length++] = number;
}

static inline void put_bytes(Wire *wire, const void *bytes, size_t length) {
    memcpy(wire->bytes + wire->length, bytes, length);
    wire->length += length;
}

static inline void put_number(Wire *wire, unsigned field, uint64_t number) {
    put_varint(wire, field << 3 | VARINT);
    put_varint(wire, number);
}

/* As protobuf itself does it: 0 is what a missing field means. */
static inline void put_unless_zero(Wire *wire, unsigned field, uint64_t number) {
    if (number)
        put_number(wire, field, number);
}

static inline void put_block(Wire *wire, unsigned field, const void *bytes, size_t length) {
    put_varint(wire, field << 3 | BLOCK);
    put_varint(wire, length);
    put_bytes(wire, bytes, length);
}

/* --- Reading, which never goes beyond the end and trusts nothing */

typedef struct {
    const uint8_t *at, *end;
} Reader;

typedef struct {
    unsigned number, kind;
    uint64_t value; /* of a VARINT */
    Reader block;   /* of a BLOCK */
} Field;

static inline bool read_varint(Reader *reader, uint64_t *number) {
    *number = 0;
    for (int shift = 0; shift < 64 && reader->at < reader->end; shift += 7) {
        uint8_t byte = *reader->at++;
        if (shift == 63 && byte > 1)
            return false;
        *number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* Reads a tag or a length: protobuf refuses those of more than five bytes. */
static inline bool read_short(Reader *reader, uint64_t *number) {
    const uint8_t *begun = reader->at;
    return read_varint(reader, number) && reader->at - begun <= 5;
}

/* Reads the next field, of the kinds that the arena's own messages have; false at the end, and at anything else, where
   `at` is not `end`. */
static inline bool read_field(Reader *reader, Field *field) {
    const uint8_t *begun = reader->at;
    uint64_t tag, length;
    *field = (Field){.block = {reader->end, reader->end}};
    if (reader->at == reader->end || !read_short(reader, &tag))
        goto no;
    if (tag >> 3 == 0 || tag >> 3 > 1000)
        goto no;
    field->number = tag >> 3;
    field->kind = tag & 7;
    if (field->kind == VARINT) {
        if (!read_varint(reader, &field->value))
            goto no;
        return true;
    }
    if (field->kind != BLOCK || !read_short(reader, &length) || length > (size_t)(reader->end - reader->at))
        goto no;
    field->block = (Reader){reader->at, reader->at + length};
    reader->at += length;
    return true;
no:
    reader->at = begun;
    return false;
}

static inline size_t left(Reader reader) { return reader.end - reader.at; }

#endif
