/* The example bot: one simple rule for each game. A question is a line of JSON, the answer a number. */

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BOARD = 36, RING = 15, MOST = 256 };

/* What the line has under a key; an empty text if it has no such key. */
static const char *value(const char *line, const char *key)
{
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at ? at + strlen(quoted) : "";
}

static long number(const char *line, const char *key)
{
    return strtol(value(line, key), NULL, 10);
}

static bool is(const char *line, const char *key, const char *text)
{
    const char *at = value(line, key);
    return *at == '"' && strncmp(at + 1, text, strlen(text)) == 0 && at[1 + strlen(text)] == '"';
}

/* The numbers of a list; gives how many there are. */
static int list(const char *line, const char *key, int numbers[MOST])
{
    int count = 0;
    const char *at = value(line, key);
    while (count < MOST && (*at == '[' || *at == ',')) {
        char *end;
        numbers[count] = (int)strtol(at + 1, &end, 10);
        if (end == at + 1)
            break;
        count++;
        at = end;
    }
    return count;
}

/* The key of what a seat has: seats.0.pawn. */
static const char *of(long seat, const char *what)
{
    static char key[64];
    snprintf(key, sizeof key, "seats.%ld.%s", seat, what);
    return key;
}

/* BIRTH: move to where the area is highest. */
static int birth(const char *line, const int legal[], int options)
{
    bool taken[RING] = {false};
    int areas[MOST] = {0}, action = legal[0], best = -1;
    long seat = number(line, "seat"), seats = number(line, "seats");
    long pawn = number(line, of(seat, "pawn"));

    list(line, "areas", areas);
    for (long other = 0; other < seats; other++)
        if (other != seat)
            taken[number(line, of(other, "pawn")) % RING] = true;
    for (int i = 0; i < options; i++) {
        long land = pawn;
        do
            land = (land + legal[i] + 1) % RING;
        while (taken[land]);
        if (areas[land] > best) {
            best = areas[land];
            action = legal[i];
        }
    }
    return action;
}

/* Burning Desire: collect ones, score the best role, bank. */
static int burning_desire(const char *line)
{
    static const int points[3][7] = {
        {0, 10, 25, 60, 120, 250, 500},
        {0, 0, 10, 20, 30, 100, 180},
        {0, 0, 5, 10, 20, 30, 80},
    };
    int dice[MOST] = {0}, count[3] = {0}, keep = 0, best = 0;

    if (is(line, "phase", "BURNING_DESIRE_PHASE_MULTIPLY"))
        return 131;
    list(line, "dice", dice);
    for (int i = 0; i < 6; i++) {
        keep |= (dice[i] == 1) << i;
        count[dice[i] == 1 ? 0 : dice[i] < 4 ? 1 : 2]++;
    }
    if (is(line, "phase", "BURNING_DESIRE_PHASE_ROLL"))
        return keep;
    for (int role = 1; role < 3; role++)
        if (points[role][count[role]] > points[best][count[best]])
            best = role;
    return 128 + best;
}

/* Buttons: leave a round with three buttons; put pieces beside own stars. */
static int buttons(const char *line, const int legal[], int options)
{
    enum { ROLL = 36, QUIT, PASS, FRONT };
    int cells[MOST], rows[6] = {0}, columns[6] = {0}, best = -1, action = PASS;
    long seat = number(line, "seat");

    if (is(line, "phase", "BUTTONS_PHASE_SIDE"))
        return FRONT;
    if (is(line, "phase", "BUTTONS_PHASE_TURN"))
        return legal[options - 1] == QUIT && list(line, of(seat, "buttons"), cells) >= 3 ? QUIT : ROLL;
    int stars = list(line, of(seat, "stars"), cells);
    for (int i = 0; i < stars; i++) {
        rows[cells[i] / 6 % 6]++;
        columns[cells[i] % 6]++;
    }
    for (int i = 0; i < options && legal[i] < BOARD; i++) {
        int row = rows[legal[i] / 6], column = columns[legal[i] % 6], near = row > column ? row : column;
        if (near > best) {
            best = near;
            action = legal[i];
        }
    }
    return action;
}

static int choose(const char *line)
{
    int legal[MOST] = {0}, options = list(line, "legal", legal);

    if (is(line, "game", "birth"))
        return birth(line, legal, options);
    if (is(line, "game", "burning-desire"))
        return burning_desire(line);
    if (is(line, "game", "buttons"))
        return buttons(line, legal, options);
    return options ? legal[number(line, "random") % options] : 0;
}

int main(void)
{
    char *line = NULL;
    size_t size = 0;

    while (getline(&line, &size, stdin) > 0) {
        if (is(line, "type", "decision")) {
            printf("%d\n", choose(line));
            fflush(stdout);
        }
    }
    free(line);
    return 0;
}
