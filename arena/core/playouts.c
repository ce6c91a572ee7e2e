/* Matches played out from a position: see arena/core/playouts.py. */

#include "module.h"

enum { SIGNALS = 1 << 16 }; /* after so many decisions Ctrl-C is looked for */
enum { CHOSEN_THEN = 255 };

int pick(const Rules *rules, const State *state, int seat, const Legal *legal, const Policy *policy, Dice *luck) {
    int count = legal->count ? legal->count : __builtin_popcountll(legal->set), chosen = 0;
    if (count > 1) {
        bool is_careless = !policy->is_greedy || (policy->careless && next_fast(luck) >> 32 < policy->careless);
        if (!is_careless)
            return rules->greedy(state, seat, legal);
        chosen = fast_below(luck, count);
    }
    if (legal->count)
        return legal->first + chosen;
    uint64_t set = legal->set;
    while (chosen--)
        set &= set - 1;
    return __builtin_ctzll(set);
}

/* Plays a state to the end of its match, with these actions in the first step, by seat. Returns the number of decisions;
   -1 if its numbers may grow beyond 64 bits. */
static long play_out(const Rules *rules, State *state, const uint8_t *first, const Policy *policy, Dice *luck) {
    Legal legal[MOST_SEATS];
    uint8_t decisions[MOST_SEATS];
    unsigned asked;
    long count = 0;
    for (bool is_first = true; (asked = rules->pending(state, legal)); is_first = false) {
        if (!rules->fits(state))
            return -1;
        count += __builtin_popcount(asked);
        for (int seat = 0; seat < MOST_SEATS; seat++)
            if (asked >> seat & 1)
                decisions[seat] = is_first && first[seat] != CHOSEN_THEN
                                      ? first[seat]
                                      : pick(rules, state, seat, &legal[seat], policy, luck);
        rules->apply(state, decisions, luck);
    }
    return count;
}

static PyObject *ending(const Rules *rules, const State *state, long decisions) {
    PyObject *ranks = ranks_of(rules, state), *scores = scores_of(rules, state);
    PyObject *all = ranks && scores ? Py_BuildValue("OOl", ranks, scores, decisions) : NULL;
    Py_XDECREF(ranks);
    Py_XDECREF(scores);
    return all;
}

static PyObject *playouts(PyObject *module, PyObject *args) {
    Types *types = PyModule_GetState(module);
    GameObject *game;
    StateObject *from;
    Py_ssize_t count;
    unsigned long long seed, careless;
    int is_greedy;
    PyObject *given;
    uint8_t first[MOST_SEATS];
    Legal legal[MOST_SEATS];
    if (!PyArg_ParseTuple(args, "O!O!nKpKO!", types->game, &game, types->state, &from, &count, &seed, &is_greedy,
                          &careless, &PyDict_Type, &given))
        return NULL;
    if (from->rules != game->rules)
        return PyErr_Format(PyExc_TypeError, "expected a compiled state of %s", game->rules->name);
    memset(first, CHOSEN_THEN, sizeof first);
    unsigned asked = game->rules->pending(&from->state, legal);
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(given, &at, &key, &value);) {
        if (!PyLong_Check(key) || !PyLong_Check(value)) /* anything else would run code as it becomes a number */
            return PyErr_Format(PyExc_TypeError, "seats and actions are int");
        long seat = PyLong_AsLong(key), action = PyLong_AsLong(value);
        if (PyErr_Occurred())
            return NULL;
        if (seat < 0 || seat >= MOST_SEATS || !(asked >> seat & 1) || action < 0 || !is_legal(&legal[seat], action))
            return PyErr_Format(PyExc_ValueError, "action %ld of seat %ld is not legal here", action, seat);
        first[seat] = action;
    }
    Dice seeds = {.is_fast = true, .fast = seed};
    Policy policy = {is_greedy, careless};
    PyObject *endings = PyList_New(0);
    long since = 0;
    for (Py_ssize_t i = 0; endings && i < count; i++) {
        State state = from->state;
        Dice luck = {.is_fast = true, .fast = next_fast(&seeds)};
        long decisions = play_out(game->rules, &state, first, &policy, &luck);
        if (decisions < 0) {
            Py_DECREF(endings);
            Py_RETURN_NONE;
        }
        since = since > SIGNALS ? 0 : since + decisions;
        PyObject *one = since || !PyErr_CheckSignals() ? ending(game->rules, &state, decisions) : NULL;
        if (!one || PyList_Append(endings, one))
            Py_CLEAR(endings);
        Py_XDECREF(one);
    }
    return endings;
}

static PyMethodDef functions[] = {
    {"playouts", playouts, METH_VARARGS,
     "Play a state out: playouts(game, state, count, seed, is_greedy, careless, first).\n\n"
     "`careless` is in 2^32, `first` a dict of actions in the first step, by seat. "
     "Returns ranks, scores and the number of decisions of each playout; None if a match needs more than 64 bits."},
    {0},
};

int add_playouts(PyObject *module) { return PyModule_AddFunctions(module, functions); }
