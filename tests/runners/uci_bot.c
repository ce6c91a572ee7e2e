/* A chess bot that plays the moves of one game from a file, and no other: uci_bot FILE.
 * It thinks for no time, so a match of two takes as long as its runner needs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_MOVES = 1000, LONGEST_MOVE = 8, LONGEST_LINE = 65536 };

int main(int count, char **arguments) {
    static char moves[MOST_MOVES][LONGEST_MOVE], line[LONGEST_LINE];
    FILE *game = count == 2 ? fopen(arguments[1], "r") : NULL;
    if (!game) {
        fprintf(stderr, "usage: uci_bot FILE, which has the moves of a game\n");
        return 2;
    }
    for (int i = 0; i < MOST_MOVES && fscanf(game, "%7s", moves[i]) == 1; i++)
        continue;
    fclose(game);
    size_t played = 0;
    while (fgets(line, sizeof line, stdin)) {
        if (!strncmp(line, "uci\n", 4)) {
            puts("id name scripted\nuciok");
        } else if (!strncmp(line, "isready", 7)) {
            puts("readyok");
        } else if (!strncmp(line, "position", 8)) {
            const char *rest = strstr(line, " moves");
            char side = 'w'; /* a runner may begin with a later position, which tells the number of the move */
            size_t number = 1;
            sscanf(line, "position fen %*s %c %*s %*s %*s %zu", &side, &number);
            for (played = 2 * (number - 1) + (side == 'b'); rest && (rest = strchr(rest + 1, ' ')); played++)
                continue;
        } else if (!strncmp(line, "go", 2)) {
            printf("info depth 1 score cp 0\nbestmove %s\n", moves[played % MOST_MOVES]);
        } else if (!strncmp(line, "quit", 4)) {
            break;
        }
        fflush(stdout);
    }
    return 0;
}
