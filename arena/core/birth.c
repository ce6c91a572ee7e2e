/* BIRTH: see arena/games/birth.py and birth_board.py. */

#include "rules.h"

static const uint8_t AREAS[AREA_KINDS] = {1, 2, 3, 5, 8};

/* --- Heaps of dice */

static int count_of(Heap dice, int face) { return dice >> 4 * (face - 1) & 15; }

static Heap one_die(int face) { return (Heap)1 << 4 * (face - 1); }

static Heap heap(const uint8_t *faces, int count) {
    Heap dice = 0;
    for (int i = 0; i < count; i++)
        dice += one_die(faces[i]);
    return dice;
}

static int size(Heap dice) {
    int size = 0;
    for (int face = 1; face <= 6; face++)
        size += count_of(dice, face);
    return size;
}

static int pips(Heap dice) {
    int pips = 0;
    for (int face = 1; face <= 6; face++)
        pips += face * count_of(dice, face);
    return pips;
}

/* --- The rules in pieces */

static int mover(const BirthState *state) { return state->turn % state->seats; }

static int area_of(const BirthState *state, int space) {
    int area = 0;
    while (area < AREA_KINDS - 1 && AREAS[area] != state->areas[space])
        area++;
    return area;
}

static bool holds_pawn(const BirthState *state, int space) {
    for (int seat = 0; seat < state->seats; seat++)
        if (state->pawns[seat] == space)
            return true;
    return false;
}

/* The space where the pawn stays: it goes on from one that holds an opponent. */
static int landing(const BirthState *state, int seat, int face) {
    int origin = state->pawns[seat], space = (origin + face) % SPACES;
    while (space != origin && holds_pawn(state, space))
        space = (space + face) % SPACES;
    return space;
}

/* Puts a die into an area; if it has dice of that face already, all of them are rolled once: a Birth. */
static void place(BirthState *state, Heap *area, int seat, int face, Dice *dice) {
    uint8_t thrown[BIRTH_SEATS * HAND];
    int equal = 0, used = 0;
    area[seat] += one_die(face);
    for (int owner = 0; owner < state->seats; owner++)
        equal += count_of(area[owner], face);
    if (equal == 1)
        return;
    roll(dice, and_word(key("turn/", state->turn), "/birth"), equal, thrown);
    for (int owner = 0; owner < state->seats; owner++) {
        int count = count_of(area[owner], face);
        area[owner] += heap(thrown + used, count) - count * one_die(face);
        used += count;
    }
}

static void points(const BirthState *state, int *absolute, int *relative) {
    for (int seat = 0; seat < state->seats; seat++)
        absolute[seat] = relative[seat] = 0;
    for (int area = 0; area < AREA_KINDS; area++) {
        const Heap *heaps = state->placed[area];
        int top = 0;
        for (int seat = 0; seat < state->seats; seat++)
            if (pips(heaps[seat]) > top)
                top = pips(heaps[seat]);
        for (int seat = 0; seat < state->seats; seat++) {
            absolute[seat] += AREAS[area] * size(heaps[seat]);
            if (pips(heaps[seat]) == top)
                relative[seat] += top;
        }
    }
}

/* --- The game */

static void start(State *any, int seats, Dice *dice, const uint8_t *options) {
    BirthState *state = &any->birth;
    uint8_t faces[HAND];
    memset(state, 0, sizeof *state);
    state->seats = seats;
    memcpy(state->areas, options, SPACES);
    state->start = options[SPACES];
    for (int seat = 0; seat < seats; seat++) {
        state->pawns[seat] = (state->start + seat) % SPACES;
        roll(dice, key("setup/seat/", seat), HAND, faces);
        state->hands[seat] = heap(faces, HAND);
    }
}

static unsigned pending(const State *any, Legal *legal) {
    const BirthState *state = &any->birth;
    int seat = mover(state);
    Heap hand = state->hands[seat];
    legal[seat] = (Legal){0};
    for (int face = 1; face <= 6; face++)
        if (count_of(hand, face))
            legal[seat].set |= 1u << (face - 1);
    return hand ? 1u << seat : 0;
}

static void apply(State *any, const uint8_t *decisions, Dice *dice) {
    BirthState *state = &any->birth;
    int seat = mover(state), face = decisions[seat] + 1, space = landing(state, seat, face);
    uint8_t faces[HAND];
    place(state, state->placed[area_of(state, space)], seat, face, dice);
    state->hands[seat] -= one_die(face);
    if (space == state->start && state->hands[seat]) { /* a Break */
        int count = size(state->hands[seat]);
        roll(dice, and_word(key("turn/", state->turn), "/break"), count, faces);
        state->hands[seat] = heap(faces, count);
    }
    state->pawns[seat] = space;
    state->turn++;
}

static void scores(const State *any, int64_t *scores) {
    int absolute[BIRTH_SEATS], relative[BIRTH_SEATS];
    points(&any->birth, absolute, relative);
    for (int seat = 0; seat < any->seats; seat++)
        scores[seat] = absolute[seat] + relative[seat];
}

static void ranks(const State *any, int *ranks) {
    const BirthState *state = &any->birth;
    int64_t standing[BIRTH_SEATS];
    scores(any, standing);
    for (int seat = 0; seat < state->seats; seat++) /* equal totals: the pawn farther from the start */
        standing[seat] = standing[seat] * SPACES + (state->pawns[seat] + SPACES - state->start) % SPACES;
    for (int seat = 0; seat < state->seats; seat++) {
        ranks[seat] = 0;
        for (int other = 0; other < state->seats; other++)
            ranks[seat] += standing[other] > standing[seat];
    }
}

static int default_action(const State *any, int seat) {
    int face = 1;
    while (face < 6 && !count_of(any->birth.hands[seat], face))
        face++;
    return face - 1;
}

/* --- Playouts: see arena/games/greedy.py */

/* Twice what landing with a die adds to the seat's own points, dice that a Birth rolls counting as 3.5 pips each. */
static int gain(const BirthState *state, int seat, int face) {
    int kind = area_of(state, landing(state, seat, face)), equal = 1, top = 0, before = 0, own = 0;
    const Heap *area = state->placed[kind];
    for (int other = 0; other < state->seats; other++)
        equal += count_of(area[other], face);
    for (int other = 0; other < state->seats; other++) {
        int sum = 2 * pips(area[other]), grown = sum + (other == seat) * 2 * face;
        if (equal > 1)
            grown += (count_of(area[other], face) + (other == seat)) * (7 - 2 * face);
        before = sum > before ? sum : before;
        top = grown > top ? grown : top;
        own = other == seat ? grown : own;
    }
    int had = 2 * pips(area[seat]);
    return 2 * AREAS[kind] + (own == top ? own : 0) - (had == before ? had : 0);
}

static int greedy(const State *any, int seat, const Legal *legal) {
    int best = -1, most = 0;
    for (int action = 0; action < 6; action++) {
        if (!(legal->set >> action & 1))
            continue;
        int gained = gain(&any->birth, seat, action + 1);
        if (best < 0 || gained > most)
            best = action, most = gained;
    }
    return best;
}

/* --- What learners see: see arena/games/observation.py */

enum { ROW = 196 };

/* Puts how many dice of each face there are, by seat, the observer's first. */
static float *put_heaps(float *row, const BirthState *state, const Heap *heaps, int seat) {
    for (int step = 0; step < state->seats; step++)
        for (int face = 1; face <= 6; face++)
            row[6 * step + face - 1] = count_of(heaps[(seat + step) % state->seats], face) / (double)HAND;
    return row + 6 * BIRTH_SEATS;
}

static void put_landing(float *row, const BirthState *state, int seat, int face) {
    int space = landing(state, seat, face), equal = 0;
    for (int other = 0; other < state->seats; other++)
        equal += count_of(state->placed[area_of(state, space)][other], face);
    row[0] = state->areas[space] / 8.0;
    row[1] = equal ? (equal + 1) / (double)(HAND * BIRTH_SEATS) : 0.0;
    row[2] = space == state->start;
}

static void observe(const State *any, int seat, float *row) {
    const BirthState *state = &any->birth;
    int seats = state->seats, absolute[BIRTH_SEATS], relative[BIRTH_SEATS];
    bool is_over = !state->hands[mover(state)];
    row = put_heaps(row, state, state->hands, seat);
    for (int area = 0; area < AREA_KINDS; area++)
        row = put_heaps(row, state, state->placed[area], seat);
    for (int step = 0; step < seats; step++, row += SPACES)
        row[(state->pawns[(seat + step) % seats] + SPACES - state->start) % SPACES] = 1;
    row += (BIRTH_SEATS - seats) * SPACES;
    for (int step = 0; step < SPACES; step++)
        *row++ = state->areas[(state->start + step) % SPACES] / 8.0;
    if (!is_over)
        row[(mover(state) + seats - seat) % seats] = 1;
    row += BIRTH_SEATS;
    *row++ = seats / (double)BIRTH_SEATS;
    points(state, absolute, relative);
    for (int step = 0; step < seats; step++) {
        row[step] = absolute[(seat + step) % seats] / (double)(HAND * 8);
        row[BIRTH_SEATS + step] = relative[(seat + step) % seats] / (double)(HAND * 6);
    }
    row += 2 * BIRTH_SEATS;
    for (int face = 1; face <= 6; face++, row += 3)
        if (seat == mover(state) && count_of(state->hands[seat], face))
            put_landing(row, state, seat, face);
}

/* --- On the wire */

static int put_faces(uint8_t *codes, Heap dice, int first) {
    int length = 0;
    for (int face = 1; face <= 6; face++)
        for (int i = count_of(dice, face); i; i--)
            codes[length++] = first + face;
    return length;
}

static void wire_view(const State *any, Wire *view) {
    const BirthState *state = &any->birth;
    put_block(view, 3, state->areas, SPACES);
    put_unless_zero(view, 4, state->start);
    put_number(view, 2, state->turn);
    put_number(view, 1, mover(state));
    for (int seat = 0; seat < state->seats; seat++) {
        uint8_t bytes[64], codes[15 * 6];
        Wire shown = {bytes, 0};
        int length = 0;
        put_number(&shown, 1, state->pawns[seat]);
        put_block(&shown, 2, codes, put_faces(codes, state->hands[seat], 0));
        for (int area = 0; area < AREA_KINDS; area++)
            length += put_faces(codes + length, state->placed[area][seat], 10 * AREAS[area]);
        put_block(&shown, 3, codes, length);
        put_block(view, 5, shown.bytes, shown.length);
    }
}

static bool read_seat(Reader shown, BirthState *state) {
    int seat = state->seats++, dice = 0;
    Field field;
    while (read_field(&shown, &field)) {
        if (field.kind == VARINT && field.number == 1 && field.value < SPACES)
            state->pawns[seat] = field.value;
        else if (field.kind == BLOCK && (field.number == 2 || field.number == 3))
            for (; field.block.at < field.block.end; field.block.at++) {
                int face = *field.block.at % 10, area = *field.block.at / 10, kind = 0;
                while (kind < AREA_KINDS && AREAS[kind] != area)
                    kind++;
                if (face < 1 || face > 6 || ++dice > HAND || (field.number == 2 ? area != 0 : kind == AREA_KINDS))
                    return false;
                *(field.number == 2 ? &state->hands[seat] : &state->placed[kind][seat]) += one_die(face);
            }
        else
            return false;
    }
    return shown.at == shown.end;
}

static bool read(State *any, const uint8_t *options, Reader view) {
    BirthState *state = &any->birth;
    Field field;
    (void)options; /* the view has the board */
    memset(state, 0, sizeof *state);
    while (read_field(&view, &field)) {
        if (field.kind == BLOCK && field.number == 5) {
            if (state->seats == BIRTH_SEATS || !read_seat(field.block, state))
                return false;
        } else if (field.kind == BLOCK && field.number == 3 && left(field.block) == SPACES)
            memcpy(state->areas, field.block.at, SPACES);
        else if (field.kind == VARINT && field.number == 4 && field.value < SPACES)
            state->start = field.value;
        else if (field.kind == VARINT && field.number == 2 && field.value <= 2 * BIRTH_SEATS * HAND)
            state->turn = field.value;
        else if (field.kind != VARINT || field.number != 1)
            return false;
    }
    for (int space = 0; space < SPACES; space++)
        if (AREAS[area_of(state, space)] != state->areas[space])
            return false;
    return view.at == view.end && state->seats >= 2;
}

static bool fits(const State *state) {
    (void)state;
    return true;
}

const Rules BIRTH = {
    "birth", 2, BIRTH_SEATS, SPACES + 1, start, pending, apply, ranks, scores, default_action, wire_view, read, fits, greedy, ROW, observe,
    6,
};
