/* Burning Desire: see arena/games/burning_desire.py and burning_desire_dice.py. */

#include "rules.h"

#include <math.h>

enum { NORMAL = 1, FINAL, TIEBREAK, OVER };
enum { ROLL = 1, ROLE, MULTIPLYING };
enum { ROLLS = 3, STOP = 127, FIRST_ROLE = 128, BANK = 131, MULTIPLY = 132 };
enum { ORDINARY = DESIRE_DICE - 1, ROLES = 3 };
enum { ENOUGH = 60 }; /* points with which a playout stops rolling */

/* By role: the faces that count, a bit each, and the points by the number of dice that do. */
static const uint8_t ROLE_FACES[ROLES] = {1 << 1, 1 << 2 | 1 << 3, 1 << 4 | 1 << 5 | 1 << 6};
static const int ROLE_POINTS[ROLES][ORDINARY + 1] = {
    {0, 10, 25, 60, 120, 250, 500},
    {0, 0, 10, 20, 30, 100, 180},
    {0, 0, 5, 10, 20, 30, 80},
};
static const int MULTIPLIERS[2][6] = {{0, 0, 1, 1, 1, 2}, {0, 0, 0, 2, 2, 3}};

/* --- The dice */

static int score(int role, const uint8_t *dice) {
    int used = 0, same = 0, bonus = dice[ORDINARY];
    for (int die = 0; die < ORDINARY; die++)
        if (ROLE_FACES[role] >> dice[die] & 1) {
            used++;
            same += dice[die] == bonus;
        }
    int points = ROLE_POINTS[role][used];
    if (role == 0)
        return bonus == 1 ? 2 * points : points;
    return points + same * (used == ORDINARY ? 20 : 10);
}

static int best_role(const uint8_t *dice) {
    int best = 0;
    for (int role = 1; role < ROLES; role++)
        if (score(role, dice) > score(best, dice))
            best = role;
    return best;
}

/* --- The course of a match */

static bool may_multiply(const DesireState *state, int points) {
    return points > 0 && (state->stage != NORMAL || state->totals[state->current] + points >= state->goal);
}

static Key roll_key(const DesireState *state, const char *kind, int number) {
    Key turn = and_key(key("seat/", state->current), "/turn/", state->turns[state->current] - 1);
    return and_key(turn, kind, number);
}

static void begin_turn(DesireState *state, int seat, Dice *dice) {
    state->turns[seat]++;
    state->current = seat;
    state->phase = ROLL;
    state->rolls = 1;
    state->score = state->multiplications = 0;
    roll(dice, roll_key(state, "/roll/", 0), DESIRE_DICE, state->dice);
}

static int leaders(const DesireState *state, bool *leads) {
    int64_t top = 0;
    int count = 0;
    for (int seat = 0; seat < state->seats; seat++)
        if (state->totals[seat] > top)
            top = state->totals[seat];
    for (int seat = 0; seat < state->seats; seat++)
        count += leads[seat] = state->totals[seat] == top;
    return count;
}

/* What follows the turn that just ended: final round, tie-break, end, or nothing new. */
static void next_round(DesireState *state) {
    bool leads[MOST_SEATS];
    if (state->trigger < 0) {
        if (state->totals[state->current] < state->goal)
            return;
        state->stage = FINAL;
        state->trigger = state->current;
        state->queued = 0;
        for (int step = 1; step < state->seats; step++)
            state->queue[state->queued++] = (state->trigger + step) % state->seats;
    } else if (!state->queued) {
        if (leaders(state, leads) == 1) {
            state->stage = OVER;
            return;
        }
        state->stage = TIEBREAK;
        for (int step = 0; step < state->seats; step++) {
            int seat = (state->trigger + step) % state->seats;
            if (leads[seat])
                state->queue[state->queued++] = seat;
        }
    }
}

static void bank(DesireState *state, int64_t points, Dice *dice) {
    int seat = state->current;
    state->totals[seat] += points;
    state->score = points;
    if (state->queued) {
        state->queued--;
        memmove(state->queue, state->queue + 1, state->queued);
    }
    next_round(state);
    int following = state->queued ? state->queue[0] : (seat + 1) % state->seats;
    if (state->stage == OVER || state->turns[following] == state->max_turns) {
        state->stage = OVER;
        state->queued = 0;
    } else
        begin_turn(state, following, dice);
}

static void keep(DesireState *state, int mask, Dice *dice) {
    uint8_t thrown[DESIRE_DICE];
    int used = 0;
    if (mask == STOP) {
        state->phase = ROLE;
        return;
    }
    roll(dice, roll_key(state, "/roll/", state->rolls), DESIRE_DICE - __builtin_popcount(mask), thrown);
    for (int die = 0; die < DESIRE_DICE; die++)
        if (!(mask >> die & 1))
            state->dice[die] = thrown[used++];
    if (++state->rolls == ROLLS)
        state->phase = ROLE;
}

static void choose(DesireState *state, int action, Dice *dice) {
    int points = score(action - FIRST_ROLE, state->dice);
    if (may_multiply(state, points)) {
        state->phase = MULTIPLYING;
        state->score = points;
    } else
        bank(state, points, dice);
}

static void bank_or_multiply(DesireState *state, int action, Dice *dice) {
    uint8_t faces[2];
    if (action == BANK) {
        bank(state, state->score, dice);
        return;
    }
    roll(dice, roll_key(state, "/multiply/", state->multiplications), 2, faces);
    state->score *= MULTIPLIERS[0][faces[0] - 1] * MULTIPLIERS[1][faces[1] - 1];
    state->multiplications++;
    if (!state->score)
        bank(state, 0, dice);
}

/* --- Playouts: see arena/games/greedy.py */

static int greedy(const State *any, int seat, const Legal *legal) {
    const DesireState *state = &any->desire;
    int role = best_role(state->dice), kept = 0;
    (void)seat, (void)legal;
    if (state->phase != ROLL)
        return state->phase == ROLE ? FIRST_ROLE + role : BANK;
    if (score(role, state->dice) >= ENOUGH)
        return STOP;
    for (int die = 0; die < DESIRE_DICE; die++)
        kept |= (ROLE_FACES[role] >> state->dice[die] & 1) << die;
    return kept;
}

/* --- What learners see: see arena/games/observation.py */

enum { ROW = 90 };

static void observe(const State *any, int seat, float *row) {
    const DesireState *state = &any->desire;
    int seats = state->seats, best = score(best_role(state->dice), state->dice);
    int64_t top = 0;
    for (int die = 0; die < DESIRE_DICE; die++)
        row = put_one(row, state->dice[die] - 1, 6);
    for (int die = 0; die < ORDINARY; die++)
        row[state->dice[die] - 1]++;
    for (int face = 0; face < 6; face++)
        *row++ /= 6;
    row = put_one(row, state->rolls - 1, ROLLS);
    row = put_one(row, state->phase - 1, 3);
    *row++ = share(state->score, 2.0 * state->goal);
    *row++ = share(log10(1.0 + state->score), 6);
    for (int step = 0; step < seats; step++) {
        int64_t total = state->totals[(seat + step) % seats];
        row[step] = share(total, 2.0 * state->goal);
        row[MOST_SEATS + step] = 1;
        top = total > top ? total : top;
    }
    row = put_one(row + 2 * MOST_SEATS, state->stage - 1, 3);
    row = put_one(row, state->trigger < 0 ? -1 : (state->trigger + seats - seat) % seats, MOST_SEATS);
    for (int i = 0; i < state->queued; i++)
        row[(state->queue[i] + seats - seat) % seats] = 1;
    row = put_one(row + MOST_SEATS, state->stage == OVER ? -1 : (state->current + seats - seat) % seats, MOST_SEATS);
    int64_t missing = state->goal - state->totals[seat];
    *row++ = share(top - state->totals[seat], state->goal);
    *row++ = share(missing > 0 ? missing : 0, state->goal);
    for (int role = 0; role < ROLES; role++)
        *row++ = share(score(role, state->dice), state->goal);
    *row = may_multiply(state, best);
}

/* --- The game */

static int little_endian(const uint8_t *bytes) { return bytes[0] | bytes[1] << 8 | bytes[2] << 16 | bytes[3] << 24; }

static void start(State *any, int seats, Dice *dice, const uint8_t *options) {
    DesireState *state = &any->desire;
    memset(state, 0, sizeof *state);
    state->seats = seats;
    state->stage = NORMAL;
    state->trigger = -1;
    state->goal = little_endian(options);
    state->max_turns = little_endian(options + 4);
    begin_turn(state, 0, dice);
}

static unsigned pending(const State *any, Legal *legal) {
    const DesireState *state = &any->desire;
    if (state->stage == OVER)
        return 0;
    legal[state->current] = state->phase == ROLL   ? (Legal){.first = 0, .count = FIRST_ROLE}
                            : state->phase == ROLE ? (Legal){.first = FIRST_ROLE, .count = ROLES}
                                                   : (Legal){.first = BANK, .count = 2};
    return 1u << state->current;
}

static void apply(State *any, const uint8_t *decisions, Dice *dice) {
    DesireState *state = &any->desire;
    int action = decisions[state->current];
    if (state->phase == ROLL)
        keep(state, action, dice);
    else if (state->phase == ROLE)
        choose(state, action, dice);
    else
        bank_or_multiply(state, action, dice);
}

static void ranks(const State *any, int *ranks) {
    const DesireState *state = &any->desire;
    for (int seat = 0; seat < state->seats; seat++) {
        ranks[seat] = 0;
        for (int other = 0; other < state->seats; other++)
            ranks[seat] += state->totals[other] > state->totals[seat];
    }
}

static void scores(const State *any, int64_t *scores) {
    memcpy(scores, any->desire.totals, any->seats * sizeof *scores);
}

static int default_action(const State *any, int seat) {
    const DesireState *state = &any->desire;
    (void)seat; /* only the current one decides */
    if (state->phase == ROLL)
        return STOP;
    return state->phase == MULTIPLYING ? BANK : FIRST_ROLE + best_role(state->dice);
}

/* --- On the wire */

static void put_decimal(Wire *view, unsigned field, int64_t number) {
    char digits[20];
    int length = 0;
    do
        digits[sizeof digits - ++length] = '0' + number % 10;
    while (number /= 10);
    put_block(view, field, digits + sizeof digits - length, length);
}

static void wire_view(const State *any, Wire *view) {
    const DesireState *state = &any->desire;
    uint8_t bytes[5 * MOST_SEATS];
    Wire turns = {bytes, 0};
    for (int seat = 0; seat < state->seats; seat++)
        put_decimal(view, 9, state->totals[seat]);
    for (int seat = 0; seat < state->seats; seat++)
        put_varint(&turns, state->turns[seat]);
    put_block(view, 12, turns.bytes, turns.length);
    put_number(view, 13, state->goal);
    put_number(view, 14, state->max_turns);
    put_unless_zero(view, 1, state->current);
    put_number(view, 2, state->phase);
    put_number(view, 3, state->stage);
    put_number(view, 6, state->rolls);
    if (state->trigger >= 0)
        put_number(view, 10, state->trigger);
    if (state->queued)
        put_block(view, 11, state->queue, state->queued);
    put_block(view, 4, state->dice, ORDINARY);
    put_number(view, 5, state->dice[ORDINARY]);
    put_decimal(view, 7, state->score);
    put_number(view, 8, state->multiplications);
}

static bool read_decimal(Reader block, int64_t *number) {
    *number = 0;
    if (left(block) < 1 || left(block) > 18)
        return false;
    for (; block.at < block.end; block.at++) {
        if (*block.at < '0' || *block.at > '9')
            return false;
        *number = 10 * *number + (*block.at - '0');
    }
    return true;
}

static bool read_block(DesireState *state, Field field, int *seats) {
    uint64_t number;
    switch (field.number) {
    case 4:
        if (left(field.block) != ORDINARY)
            return false;
        memcpy(state->dice, field.block.at, ORDINARY);
        return true;
    case 7:
        return read_decimal(field.block, &state->score);
    case 9:
        return state->seats < MOST_SEATS && read_decimal(field.block, &state->totals[state->seats++]);
    case 11:
        if (left(field.block) > MOST_SEATS)
            return false;
        state->queued = left(field.block);
        memcpy(state->queue, field.block.at, state->queued);
        return true;
    case 12:
        while (field.block.at < field.block.end) {
            if (*seats == MOST_SEATS || !read_varint(&field.block, &number) || number > 1000000)
                return false;
            state->turns[(*seats)++] = number;
        }
        return true;
    }
    return false;
}

static bool read_number(DesireState *state, unsigned field, uint64_t number) {
    if (number > 1000000)
        return false;
    switch (field) {
    case 1: state->current = number < MOST_SEATS ? number : MOST_SEATS; break;
    case 2: state->phase = number <= MULTIPLYING ? number : 0; break;
    case 3: state->stage = number <= OVER ? number : 0; break;
    case 5: state->dice[ORDINARY] = number <= 6 ? number : 0; break;
    case 6: state->rolls = number <= ROLLS ? number : 0; break;
    case 8: state->multiplications = number; break;
    case 10: state->trigger = number < MOST_SEATS ? number : MOST_SEATS; break;
    case 13: state->goal = number; break;
    case 14: state->max_turns = number; break;
    default: return false;
    }
    return true;
}

static bool read(State *any, const uint8_t *options, Reader view) {
    DesireState *state = &any->desire;
    int seats = 0;
    Field field;
    (void)options; /* the view has them */
    memset(state, 0, sizeof *state);
    state->trigger = -1;
    while (read_field(&view, &field))
        if (!(field.kind == BLOCK ? read_block(state, field, &seats) : read_number(state, field.number, field.value)))
            return false;
    for (int die = 0; die < DESIRE_DICE; die++)
        if (state->dice[die] < 1 || state->dice[die] > 6)
            return false;
    for (int place = 0; place < state->queued; place++)
        if (state->queue[place] >= state->seats)
            return false;
    return view.at == view.end && state->seats >= 2 && seats == state->seats && state->current < seats &&
           state->trigger < seats && state->phase && state->stage && state->rolls;
}

/* A multiplication takes at most six times the points. */
static bool fits(const State *any) {
    const int64_t most = INT64_MAX / 16;
    const DesireState *state = &any->desire;
    return state->score <= most && state->totals[state->current] <= most;
}

const Rules BURNING_DESIRE = {
    "burning-desire", 2, MOST_SEATS, 8, start, pending, apply, ranks, scores, default_action, wire_view, read, fits, greedy, ROW, observe,
    MULTIPLY + 1,
};
