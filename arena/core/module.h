/* What the parts of the Python module share.

   Python's garbage collector may run whenever a tuple, list, dict or the like is made, and with it any code: it may end a
   match, play a frame, change whatever Python may. So may the conversion of an argument that is no int or float, and the
   end of a foreign object. Across such a call, C keeps no borrowed reference, no pointer into a match or stream, and no
   length of what may grow: it takes the values first, makes the list that it fills first, or owns a reference. */

#ifndef ARENA_MODULE_H
#define ARENA_MODULE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "rules.h"

enum { VIEW_BYTES = 1024 };

/* The state of the module: its types, and values that are made once. */
typedef struct {
    PyTypeObject *dice, *state, *game, *stream, *match;
    PyObject *pairs[MOST_SEATS][256]; /* of a seat and an action; made when needed */
} Types;

typedef struct {
    PyObject_HEAD
    const Rules *rules;
    uint8_t options[MOST_OPTIONS];
} GameObject;

typedef struct {
    PyObject_HEAD
    const Rules *rules;
    State state;
} StateObject;

/* How a seat chooses that nobody is asked for. */
typedef struct {
    bool is_greedy;
    uint64_t careless; /* how many greedy choices in 2^32 are random all the same */
} Policy;

int pick(const Rules *rules, const State *state, int seat, const Legal *legal, const Policy *policy, Dice *luck);

PyObject *legal_actions(const Legal *legal);
PyObject *ranks_of(const Rules *rules, const State *state);
PyObject *scores_of(const Rules *rules, const State *state);

int add_rules(PyObject *module, Types *types);
int add_playouts(PyObject *module);
int add_batch(PyObject *module);
int add_frames(PyObject *module, Types *types);

#endif
