/* Buttons: see arena/games/buttons.py and buttons_board.py. */

#include "rules.h"

enum { ROLL = 36, QUIT, PASS, FRONT, BACK };
enum { SIDE = 1, TURN, PLACE, STAR, OVER };
enum { IN = 1, HAS_QUIT, HAS_BUST };

#define BIT(n) ((uint64_t)1 << (n))
static const uint64_t ALL = BIT(36) - 1;
static const uint64_t LEFT = BIT(0) | BIT(6) | BIT(12) | BIT(18) | BIT(24) | BIT(30); /* the first column */
static const uint64_t RIGHT = (BIT(0) | BIT(6) | BIT(12) | BIT(18) | BIT(24) | BIT(30)) << 5;
static const char COLOURS[] = "RBYG";

/* --- One board */

static uint64_t open_cells(uint64_t buttons, uint64_t stars) {
    uint64_t beside = (buttons & ~RIGHT) << 1 | (buttons & ~LEFT) >> 1;
    return ALL & ~(buttons | beside | buttons << 6 | buttons >> 6 | stars);
}

/* Where the active player may put a button: in the row of the white die and a black die's column. */
static uint64_t active_cells(const ButtonsState *state, int seat) {
    uint64_t columns = 0;
    for (int die = 1; die < state->dice_count; die++)
        columns |= BIT(state->dice[die] - 1);
    return open_cells(state->buttons[seat], state->stars[seat]) & columns << 6 * (state->dice[0] - 1);
}

/* Where another player may: in the column of the black die with gold pips. */
static uint64_t passive_cells(const ButtonsState *state, int seat) {
    return open_cells(state->buttons[seat], state->stars[seat]) & BIT(6 * state->dice[0] + state->dice[1] - 7);
}

static int reward(const ButtonsState *state, int seat) {
    int count[4] = {0}, stars = 1;
    for (int cell = 0; cell < CELLS; cell++)
        if (state->buttons[seat] >> cell & 1)
            count[strchr(COLOURS, state->boards[seat][cell]) - COLOURS]++;
    for (int colour = 0; colour < 4; colour++)
        if (count[colour] >= 3)
            stars += 1 + (state->cards[seat] >> colour & 1);
    return stars;
}

static bool has_line(uint64_t stars) {
    uint64_t across = stars & stars >> 1 & stars >> 2 & stars >> 3 & stars >> 4 & (LEFT | LEFT << 1);
    return across | (stars & stars >> 6 & stars >> 12 & stars >> 18 & stars >> 24);
}

static int count(uint64_t cells) { return __builtin_popcountll(cells); }

/* --- The rules in pieces */

static int dice_left(const ButtonsState *state) {
    int out = 0;
    for (int seat = 0; seat < state->seats; seat++)
        out += state->status[seat] != IN;
    return ALL_DICE - out * (state->seats == 2 ? 2 : 1);
}

static void shuffle(uint8_t *items, int length, const uint8_t *draws) {
    for (int last = length - 1; last > 0; last--) {
        int chosen = *draws++;
        uint8_t item = items[last];
        items[last] = items[chosen];
        items[chosen] = item;
    }
}

static void deal(ButtonsState *state, Dice *dice) {
    uint8_t order[4] = {0, 1, 2, 3}, draws[3];
    if (state->seats == 3) {
        draw(dice, word_key("setup/cards"), 3, (const uint8_t[]){3, 3, 2}, draws);
        for (int place = draws[0] + 1; place < 3; place++) /* without the card left out, one of B, Y, G */
            order[place] = order[place + 1];
        shuffle(order, 3, draws + 1);
    } else {
        draw(dice, word_key("setup/cards"), 3, (const uint8_t[]){4, 3, 2}, draws);
        shuffle(order, 4, draws);
    }
    for (int seat = 0; seat < state->seats; seat++)
        state->cards[seat] = state->seats == 2 ? 1 << order[2 * seat] | 1 << order[2 * seat + 1] : 1 << order[seat];
    state->has_cards = true;
}

static void pass_on(ButtonsState *state) {
    uint8_t last = state->cards[state->seats - 1];
    memmove(state->cards + 1, state->cards, state->seats - 1);
    state->cards[0] = last;
}

/* --- The course of a match */

static void begin_round(ButtonsState *state) {
    int first = 0;
    while (first < state->seats - 1 && !(state->cards[first] & 1)) /* the holder of the red card */
        first++;
    state->phase = TURN;
    state->turn = 0;
    state->active = state->starter = first;
    for (int seat = 0; seat < state->seats; seat++) {
        state->buttons[seat] = 0;
        state->status[seat] = IN;
    }
}

static void next_round(ButtonsState *state) {
    bool is_won = false;
    for (int seat = 0; seat < state->seats; seat++) {
        if (state->due[seat])
            return;
        is_won |= count(state->stars[seat]) >= 12 || has_line(state->stars[seat]);
    }
    if (is_won || state->round + 1 == state->max_rounds) {
        state->phase = OVER;
        return;
    }
    state->round++;
    pass_on(state);
    begin_round(state);
}

static void score(ButtonsState *state) {
    state->phase = STAR;
    state->dice_count = 0;
    for (int seat = 0; seat < state->seats; seat++)
        state->due[seat] = state->status[seat] == HAS_QUIT ? reward(state, seat) : 0;
    next_round(state);
}

static void next_turn(ButtonsState *state) {
    for (int step = 1; step <= state->seats; step++) {
        int seat = (state->active + step) % state->seats;
        if (state->status[seat] == IN) {
            state->phase = TURN;
            state->turn++;
            state->active = seat;
            state->dice_count = 0;
            return;
        }
    }
    score(state);
}

static unsigned offers(const ButtonsState *state, Legal *legal) {
    unsigned asked = 0;
    for (int seat = 0; seat < state->seats; seat++) {
        if (state->status[seat] != IN)
            continue;
        bool is_active = seat == state->active;
        uint64_t cells = is_active ? active_cells(state, seat) : passive_cells(state, seat);
        if (cells) {
            legal[seat] = (Legal){.set = is_active ? cells : cells | BIT(PASS)};
            asked |= 1u << seat;
        }
    }
    return asked;
}

static unsigned pending(const State *any, Legal *legal) {
    const ButtonsState *state = &any->buttons;
    unsigned asked = 0;
    if (state->phase == TURN) {
        legal[state->active] = (Legal){.set = state->buttons[state->active] ? BIT(ROLL) | BIT(QUIT) : BIT(ROLL)};
        return 1u << state->active;
    }
    if (state->phase == PLACE)
        return offers(state, legal);
    for (int seat = 0; seat < state->seats; seat++) {
        if (state->phase == SIDE)
            legal[seat] = (Legal){.set = BIT(FRONT) | BIT(BACK)};
        else if (state->phase == STAR && state->due[seat])
            legal[seat] = (Legal){.set = state->buttons[seat]};
        else
            continue;
        asked |= 1u << seat;
    }
    return asked;
}

static void choose_sides(ButtonsState *state, const uint8_t *decisions, Dice *dice) {
    for (int seat = 0; seat < state->seats; seat++)
        memcpy(state->boards[seat], state->sides[seat][decisions[seat] - FRONT], CELLS);
    state->has_sides = false;
    state->has_boards = true;
    deal(state, dice);
    begin_round(state);
}

static void take_turn(ButtonsState *state, int action, Dice *dice) {
    Legal legal[BOARDS];
    int seat = state->active;
    if (action == QUIT) {
        state->status[seat] = HAS_QUIT;
        next_turn(state);
        return;
    }
    state->dice_count = dice_left(state);
    roll(dice, and_key(key("round/", state->round), "/turn/", state->turn), state->dice_count, state->dice);
    state->phase = PLACE;
    if (!active_cells(state, seat)) {
        state->buttons[seat] = 0;
        state->status[seat] = HAS_BUST;
    }
    if (!offers(state, legal))
        next_turn(state);
}

static void apply(State *any, const uint8_t *decisions, Dice *dice) {
    ButtonsState *state = &any->buttons;
    Legal legal[BOARDS];
    unsigned asked;
    switch (state->phase) {
    case SIDE:
        choose_sides(state, decisions, dice);
        break;
    case TURN:
        take_turn(state, decisions[state->active], dice);
        break;
    case PLACE:
        asked = offers(state, legal);
        for (int seat = 0; seat < state->seats; seat++)
            if (asked >> seat & 1 && decisions[seat] != PASS)
                state->buttons[seat] |= BIT(decisions[seat]);
        next_turn(state);
        break;
    case STAR:
        for (int seat = 0; seat < state->seats; seat++)
            if (state->due[seat]) {
                state->buttons[seat] ^= BIT(decisions[seat]);
                state->stars[seat] |= BIT(decisions[seat]);
                state->due[seat]--;
            }
        next_round(state);
        break;
    }
}

static void start(State *any, int seats, Dice *dice, const uint8_t *options) {
    ButtonsState *state = &any->buttons;
    uint8_t order[BOARDS] = {0, 1, 2, 3}, draws[BOARDS - 1];
    memset(state, 0, sizeof *state);
    draw(dice, word_key("setup/boards"), 3, (const uint8_t[]){4, 3, 2}, draws);
    shuffle(order, BOARDS, draws);
    state->seats = seats;
    state->phase = SIDE;
    state->has_sides = true;
    state->max_rounds = options[BOARDS * SIDES * CELLS] | options[BOARDS * SIDES * CELLS + 1] << 8;
    for (int seat = 0; seat < seats; seat++) {
        memcpy(state->sides[seat], options + order[seat] * SIDES * CELLS, SIDES * CELLS);
        state->status[seat] = IN;
    }
}

static void ranks(const State *any, int *ranks) {
    const ButtonsState *state = &any->buttons;
    int standing[BOARDS];
    for (int seat = 0; seat < state->seats; seat++) /* first a line of five stars, then their number */
        standing[seat] = has_line(state->stars[seat]) << 6 | count(state->stars[seat]);
    for (int seat = 0; seat < state->seats; seat++) {
        ranks[seat] = 0;
        for (int other = 0; other < state->seats; other++)
            ranks[seat] += standing[other] > standing[seat];
    }
}

static void scores(const State *any, int64_t *scores) {
    for (int seat = 0; seat < any->seats; seat++)
        scores[seat] = count(any->buttons.stars[seat]);
}

static int default_action(const State *any, int seat) {
    Legal legal[BOARDS];
    pending(any, legal);
    int last = 63 - __builtin_clzll(legal[seat].set);
    return last == ROLL || last == QUIT || last == PASS ? last : __builtin_ctzll(legal[seat].set);
}

/* --- Playouts: see arena/games/greedy.py */

static int power(int base, int times) {
    int result = 1;
    while (times--)
        result *= base;
    return result;
}

/* Whether more than three rolls in ten would hit no open cell. */
static bool is_risky(const ButtonsState *state, int seat) {
    uint64_t open = open_cells(state->buttons[seat], state->stars[seat]);
    int black = dice_left(state) - 1, missed = 0;
    for (int row = 0; row < 6; row++)
        missed += power(6 - count(open >> 6 * row & 63), black);
    return 10 * missed > 18 * power(6, black);
}

/* The stars for quitting with a button more, then how far each colour is, best first, in one number. */
static int progress(const ButtonsState *state, int seat, int action) {
    ButtonsState then = *state;
    int far[4], key;
    if (action != PASS)
        then.buttons[seat] |= BIT(action);
    key = reward(&then, seat);
    for (int colour = 0; colour < 4; colour++) {
        int placed = 0;
        for (uint64_t left = then.buttons[seat]; left; left &= left - 1)
            placed += then.boards[seat][__builtin_ctzll(left)] == COLOURS[colour];
        int own = 2 * (placed < 3 ? placed : 3) + (then.cards[seat] >> colour & 1), place = colour;
        for (; place && far[place - 1] < own; place--)
            far[place] = far[place - 1];
        far[place] = own;
    }
    for (int i = 0; i < 4; i++)
        key = key * 8 + far[i];
    return key;
}

/* The most stars on a line of five cells through the cell. */
static int longest(uint64_t stars, int cell) {
    static const uint64_t ROW = 31, COLUMN = BIT(0) | BIT(6) | BIT(12) | BIT(18) | BIT(24);
    int row = cell / 6, column = cell % 6, most = 0;
    for (int shift = 0; shift < 2; shift++) {
        uint64_t lines[] = {ROW << (6 * row + shift), COLUMN << (6 * shift + column)};
        for (int i = 0; i < 2; i++)
            if (lines[i] >> cell & 1 && count(stars & lines[i]) > most)
                most = count(stars & lines[i]);
    }
    return most;
}

static int greedy(const State *any, int seat, const Legal *legal) {
    const ButtonsState *state = &any->buttons;
    int best = -1, most = -1;
    if (state->phase == SIDE)
        return FRONT;
    if (state->phase == TURN)
        return is_risky(state, seat) || reward(state, seat) > 2 ? QUIT : ROLL;
    for (uint64_t set = legal->set; set; set &= set - 1) {
        int action = __builtin_ctzll(set);
        int worth = state->phase == PLACE ? progress(state, seat, action) : longest(state->stars[seat], action);
        if (worth > most)
            best = action, most = worth;
    }
    return best;
}

/* --- What learners see: see arena/games/observation.py */

enum { ROW = 941 };

static int run(unsigned line) {
    int length = 0;
    for (; line; line &= line << 1)
        length++;
    return length;
}

/* The most stars next to each other in a row or a column. */
static int longest_run(uint64_t stars) {
    int most = 0;
    for (int line = 0; line < 6; line++) {
        unsigned column = 0;
        for (int row = 0; row < 6; row++)
            column |= (stars >> (6 * row + line) & 1) << row;
        int here = run(stars >> 6 * line & 63), down = run(column);
        most = here > most ? here : most;
        most = down > most ? down : most;
    }
    return most;
}

static void put_marks(float *row, uint64_t cells) {
    for (; cells; cells &= cells - 1)
        row[__builtin_ctzll(cells)] = 1;
}

static void observe(const State *any, int seat, float *row) {
    const ButtonsState *state = &any->buttons;
    Legal legal[BOARDS];
    int seats = state->seats;
    unsigned asked = pending(any, legal);
    float *stars = row + BOARDS * CELLS, *colours = stars + BOARDS * CELLS, *status = colours + BOARDS * 4 * CELLS;
    float *cards = status + BOARDS * 3, *counts = cards + BOARDS * 4, *runs = counts + BOARDS, *phase = runs + BOARDS;
    float *to_move = phase + 5, *due = to_move + 3 * BOARDS + 3 * 6 + 1;
    for (int step = 0; step < seats; step++) {
        int each = (seat + step) % seats;
        put_marks(row + CELLS * step, state->buttons[each]);
        put_marks(stars + CELLS * step, state->stars[each]);
        for (int cell = 0; state->has_boards && cell < CELLS; cell++)
            colours[CELLS * (4 * step + (strchr(COLOURS, state->boards[each][cell]) - COLOURS)) + cell] = 1;
        put_one(status + 3 * step, state->status[each] - 1, 3);
        put_marks(cards + 4 * step, state->cards[each]);
        counts[step] = share(count(state->stars[each]), 12);
        runs[step] = longest_run(state->stars[each]) / 6.0;
        to_move[step] = asked >> each & 1;
        due[step] = state->due[each] / 9.0;
    }
    put_one(phase, state->phase - 1, 5);
    row = put_one(to_move + BOARDS, (state->active + seats - seat) % seats, BOARDS);
    row = put_one(row, (state->starter + seats - seat) % seats, BOARDS);
    row = put_one(row, state->dice_count ? state->dice[0] - 1 : -1, 6);
    row = put_one(row, state->dice_count ? state->dice[1] - 1 : -1, 6);
    for (int die = 2; die < state->dice_count; die++)
        row[state->dice[die] - 1] += 0.25;
    row[6] = dice_left(state) / 6.0;
    due[BOARDS] = share(state->round, state->max_rounds);
}

/* --- On the wire */

static void put_cells(Wire *wire, unsigned field, uint64_t cells) {
    uint8_t numbers[CELLS];
    int length = 0;
    for (; cells; cells &= cells - 1)
        numbers[length++] = __builtin_ctzll(cells);
    put_block(wire, field, numbers, length);
}

static void put_seat(Wire *view, const ButtonsState *state, int seat) {
    uint8_t bytes[256];
    Wire shown = {bytes, 0};
    if (state->has_boards)
        put_block(&shown, 1, state->boards[seat], CELLS);
    for (int side = 0; side < SIDES && state->has_sides; side++)
        put_block(&shown, 2, state->sides[seat][side], CELLS);
    if (state->has_cards) {
        char cards[4];
        int length = 0;
        for (int colour = 0; colour < 4; colour++)
            if (state->cards[seat] >> colour & 1)
                cards[length++] = COLOURS[colour];
        put_block(&shown, 5, cards, length);
    }
    put_unless_zero(&shown, 6, state->status[seat]);
    put_unless_zero(&shown, 7, state->due[seat]);
    put_cells(&shown, 3, state->buttons[seat]);
    put_cells(&shown, 4, state->stars[seat]);
    put_block(view, 10, shown.bytes, shown.length);
}

static void wire_view(const State *any, Wire *view) {
    const ButtonsState *state = &any->buttons;
    put_unless_zero(view, 1, state->phase);
    put_unless_zero(view, 2, state->round);
    put_unless_zero(view, 3, state->turn);
    put_unless_zero(view, 4, state->active);
    put_unless_zero(view, 5, state->starter);
    put_unless_zero(view, 9, dice_left(state));
    if (state->dice_count) {
        put_number(view, 6, state->dice[0]);
        put_number(view, 7, state->dice[1]);
        put_block(view, 8, state->dice + 2, state->dice_count - 2);
    }
    for (int seat = 0; seat < state->seats; seat++)
        put_seat(view, state, seat);
}

static bool read_cells(Reader block, uint64_t *cells) {
    for (*cells = 0; block.at < block.end; block.at++) {
        if (*block.at >= CELLS)
            return false;
        *cells |= BIT(*block.at);
    }
    return true;
}

static bool read_board(Reader block, char *board) {
    if (left(block) != CELLS)
        return false;
    for (int cell = 0; cell < CELLS; cell++)
        if (!block.at[cell] || !strchr(COLOURS, block.at[cell]))
            return false;
    memcpy(board, block.at, CELLS);
    return true;
}

static bool read_seat(Reader shown, ButtonsState *state) {
    int seat = state->seats++, side = 0;
    Field field;
    while (read_field(&shown, &field)) {
        bool is_fine = true;
        if (field.kind == VARINT) {
            if (field.value > 127)
                return false;
            if (field.number == 6)
                state->status[seat] = field.value;
            else if (field.number == 7)
                state->due[seat] = field.value;
        } else if (field.number == 1) {
            is_fine = read_board(field.block, state->boards[seat]);
            state->has_boards = true;
        } else if (field.number == 2) {
            is_fine = side < SIDES && read_board(field.block, state->sides[seat][side++]);
            state->has_sides = true;
        } else if (field.number == 3) {
            is_fine = read_cells(field.block, &state->buttons[seat]);
        } else if (field.number == 4) {
            is_fine = read_cells(field.block, &state->stars[seat]);
        } else if (field.number == 5) {
            for (; field.block.at < field.block.end; field.block.at++) {
                const char *colour = *field.block.at ? strchr(COLOURS, *field.block.at) : NULL;
                if (!colour)
                    return false;
                state->cards[seat] |= 1 << (colour - COLOURS);
            }
            state->has_cards = true;
        }
        if (!is_fine)
            return false;
    }
    return shown.at == shown.end && state->status[seat] >= IN && state->status[seat] <= HAS_BUST;
}

static bool read(State *any, const uint8_t *options, Reader view) {
    ButtonsState *state = &any->buttons;
    Field field;
    memset(state, 0, sizeof *state);
    state->max_rounds = options[BOARDS * SIDES * CELLS] | options[BOARDS * SIDES * CELLS + 1] << 8;
    while (read_field(&view, &field)) {
        if (field.kind == BLOCK && field.number == 10) {
            if (state->seats == BOARDS || !read_seat(field.block, state))
                return false;
        } else if (field.kind == BLOCK && field.number == 8) {
            if (left(field.block) > ALL_DICE - 2)
                return false;
            memcpy(state->dice + 2, field.block.at, left(field.block));
            state->dice_count = 2 + left(field.block);
        } else if (field.kind == VARINT && field.value <= INT32_MAX) {
            int value = field.value;
            if (value > UINT8_MAX && field.number != 2 && field.number != 3)
                return false;
            switch (field.number) {
            case 1: state->phase = value; break;
            case 2: state->round = value; break;
            case 3: state->turn = value; break;
            case 4: state->active = value; break;
            case 5: state->starter = value; break;
            case 6: state->dice[0] = value; break;
            case 7: state->dice[1] = value; break;
            }
        } else
            return false;
    }
    for (int die = 0; die < state->dice_count; die++)
        if (state->dice[die] < 1 || state->dice[die] > 6)
            return false;
    for (int seat = 0; seat < state->seats; seat++)
        if (!(state->phase == SIDE ? state->sides[seat][SIDES - 1][0] : state->boards[seat][0]) ||
            (state->phase == STAR && state->due[seat] > count(state->buttons[seat])))
            return false;
    return view.at == view.end && state->seats >= 2 && state->phase >= SIDE && state->phase <= OVER &&
           state->active < state->seats && state->starter < state->seats &&
           (state->phase == SIDE ? state->has_sides : state->has_boards && state->has_cards) &&
           (state->phase != PLACE || state->dice_count >= 2);
}

static bool fits(const State *state) { return state->buttons.turn < INT32_MAX; }

const Rules BUTTONS = {
    "buttons", 2, BOARDS, BOARDS * SIDES * CELLS + 2, start, pending,   apply,
    ranks,     scores, default_action, wire_view, read, fits, greedy, ROW, observe,
    BACK + 1,
};
