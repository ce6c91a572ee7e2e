/* The compiled rules as Python sees them: Game, State and Dice, with the methods of arena.games.rules.Game. */

#include "module.h"

/* --- Dice */

typedef struct {
    PyObject_HEAD
    Dice dice;
} DiceObject;

static PyObject *dice_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"seed", NULL};
    PyObject *given;
    Py_buffer seed;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O", names, &given))
        return NULL;
    DiceObject *self = NULL;
    if (PyLong_Check(given)) {
        if ((self = PyObject_New(DiceObject, type)))
            self->dice = (Dice){.is_fast = true, .fast = PyLong_AsUnsignedLongLongMask(given)};
        return (PyObject *)self;
    }
    if (PyObject_GetBuffer(given, &seed, PyBUF_SIMPLE))
        return NULL;
    if (seed.len != 32)
        PyErr_Format(PyExc_ValueError, "a seed has 32 bytes, not %zd", seed.len);
    else if ((self = PyObject_New(DiceObject, type)))
        seed_dice(&self->dice, seed.buf);
    PyBuffer_Release(&seed);
    return (PyObject *)self;
}

static PyType_Slot dice_slots[] = {
    {Py_tp_doc, "Dice of real matches, from a seed of 32 bytes: see `arena.games.dice.KeyedDice`.\n\n"
                "From a seed that is a number, those of `FastDice`."},
    {Py_tp_new, dice_new},
    {0, NULL},
};
static PyType_Spec dice_spec = {"arena.core.Dice", sizeof(DiceObject), 0, Py_TPFLAGS_DEFAULT, dice_slots};

/* --- State */

static PyType_Slot state_slots[] = {
    {Py_tp_doc, "A position; `Game` steps it."},
    {0, NULL},
};
static PyType_Spec state_spec = {
    "arena.core.State", sizeof(StateObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, state_slots};

static PyObject *new_state(Types *types, const Rules *rules, const State *state) {
    StateObject *made = PyObject_New(StateObject, types->state);
    if (made) {
        made->rules = rules;
        made->state = *state;
    }
    return (PyObject *)made;
}

/* --- Game */

static PyObject *game_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"name", "options", NULL};
    static const Rules *const ALL[] = {&BUTTONS, &BIRTH, &BURNING_DESIRE};
    const char *name;
    Py_buffer options;
    GameObject *self = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, named, "sy*", names, &name, &options))
        return NULL;
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL && !self; i++) {
        if (strcmp(ALL[i]->name, name))
            continue;
        if ((size_t)options.len != ALL[i]->option_bytes)
            break;
        if (!(self = PyObject_New(GameObject, type)))
            break;
        self->rules = ALL[i];
        memcpy(self->options, options.buf, options.len);
    }
    if (!self && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError, "%s with %zd bytes of options is not compiled", name, options.len);
    PyBuffer_Release(&options);
    return (PyObject *)self;
}

static PyObject *numbers(int count, const int64_t *values) {
    PyObject *made = PyTuple_New(count);
    for (int i = 0; made && i < count; i++) {
        PyObject *value = PyLong_FromLongLong(values[i]);
        if (!value)
            Py_CLEAR(made);
        else
            PyTuple_SET_ITEM(made, i, value);
    }
    return made;
}

PyObject *legal_actions(const Legal *legal) {
    int64_t actions[64];
    int length = 0;
    if (legal->count)
        return PyObject_CallFunction((PyObject *)&PyRange_Type, "ii", legal->first, legal->first + legal->count);
    for (uint64_t set = legal->set; set; set &= set - 1)
        actions[length++] = __builtin_ctzll(set);
    return numbers(length, actions);
}

PyObject *ranks_of(const Rules *rules, const State *state) {
    int ranks[MOST_SEATS];
    int64_t values[MOST_SEATS];
    rules->ranks(state, ranks);
    for (int seat = 0; seat < state->seats; seat++)
        values[seat] = ranks[seat];
    return numbers(state->seats, values);
}

PyObject *scores_of(const Rules *rules, const State *state) {
    int64_t values[MOST_SEATS];
    rules->scores(state, values);
    return numbers(state->seats, values);
}

static State *state_of(GameObject *game, Types *types, PyObject *any) {
    if (Py_TYPE(any) == types->state && ((StateObject *)any)->rules == game->rules)
        return &((StateObject *)any)->state;
    PyErr_Format(PyExc_TypeError, "expected a compiled state of %s", game->rules->name);
    return NULL;
}

static Dice *dice_of(Types *types, PyObject *any) {
    if (Py_TYPE(any) == types->dice)
        return &((DiceObject *)any)->dice;
    PyErr_SetString(PyExc_TypeError, "expected compiled dice");
    return NULL;
}

static PyObject *game_start(GameObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *n) {
    Types *types = PyType_GetModuleState(type);
    State state;
    Dice *dice;
    if (count != 2 || n)
        return PyErr_Format(PyExc_TypeError, "start(seats, dice)");
    long seats = PyLong_AsLong(args[0]);
    if (PyErr_Occurred() || !(dice = dice_of(types, args[1])))
        return NULL;
    if (seats < self->rules->least_seats || seats > self->rules->most_seats)
        return PyErr_Format(PyExc_ValueError, "%s has no match of %ld seats", self->rules->name, seats);
    self->rules->start(&state, seats, dice, self->options);
    return new_state(types, self->rules, &state);
}

static PyObject *game_pending(GameObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *n) {
    Legal legal[MOST_SEATS];
    State *state = count == 1 && !n ? state_of(self, PyType_GetModuleState(type), args[0]) : NULL;
    PyObject *pending = state ? PyDict_New() : NULL;
    unsigned asked = pending ? self->rules->pending(state, legal) : 0;
    for (int seat = 0; pending && seat < MOST_SEATS; seat++) {
        if (!(asked >> seat & 1))
            continue;
        PyObject *key = PyLong_FromLong(seat), *actions = legal_actions(&legal[seat]);
        if (!key || !actions || PyDict_SetItem(pending, key, actions))
            Py_CLEAR(pending);
        Py_XDECREF(key);
        Py_XDECREF(actions);
    }
    if (!pending && !PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "pending(state)");
    return pending;
}

static PyObject *game_apply(GameObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *n) {
    Types *types = PyType_GetModuleState(type);
    Legal legal[MOST_SEATS];
    uint8_t decisions[MOST_SEATS];
    State *state;
    Dice *dice;
    if (count != 3 || n || !PyDict_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "apply(state, decisions, dice), decisions by seat");
    if (!(state = state_of(self, types, args[0])) || !(dice = dice_of(types, args[2])))
        return NULL;
    unsigned asked = self->rules->pending(state, legal);
    if (PyDict_Size(args[1]) != __builtin_popcount(asked) || !asked)
        return PyErr_Format(PyExc_ValueError, "not exactly the seats that must decide");
    for (int seat = 0; seat < MOST_SEATS; seat++) {
        if (!(asked >> seat & 1))
            continue;
        PyObject *key = PyLong_FromLong(seat), *action = key ? PyDict_GetItemWithError(args[1], key) : NULL;
        Py_XINCREF(action);
        long number = action ? PyLong_AsLong(action) : -1;
        Py_XDECREF(action);
        Py_XDECREF(key);
        if (PyErr_Occurred())
            return NULL;
        if (number < 0 || !is_legal(&legal[seat], number))
            return PyErr_Format(PyExc_ValueError, "seat %d chose %ld, which is not legal", seat, number);
        decisions[seat] = number;
    }
    if (!self->rules->fits(state))
        return PyErr_Format(PyExc_OverflowError, "the numbers of this match may grow beyond 64 bits");
    StateObject *after = (StateObject *)new_state(types, self->rules, state);
    if (after)
        self->rules->apply(&after->state, decisions, dice);
    return (PyObject *)after;
}

static PyObject *game_default(GameObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *n) {
    Legal legal[MOST_SEATS];
    State *state = count == 2 && !n ? state_of(self, PyType_GetModuleState(type), args[0]) : NULL;
    long seat = state ? PyLong_AsLong(args[1]) : -1;
    if (PyErr_Occurred())
        return NULL;
    if (seat < 0 || seat >= MOST_SEATS || !(self->rules->pending(state, legal) >> seat & 1))
        return PyErr_Format(PyExc_ValueError, "default_action(state, seat) is that of a pending seat");
    return PyLong_FromLong(self->rules->default_action(state, seat));
}

static PyObject *game_view(GameObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *n) {
    uint8_t bytes[VIEW_BYTES];
    Wire view = {bytes, 0};
    State *state = count == 1 && !n ? state_of(self, PyType_GetModuleState(type), args[0]) : NULL;
    if (!state)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "wire_view(state)");
    self->rules->wire_view(state, &view);
    return PyBytes_FromStringAndSize((char *)bytes, view.length);
}

static PyObject *game_ranks(GameObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *n) {
    State *state = count == 1 && !n ? state_of(self, PyType_GetModuleState(type), args[0]) : NULL;
    if (!state)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "ranks(state)");
    return ranks_of(self->rules, state);
}

static PyObject *game_scores(GameObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *n) {
    State *state = count == 1 && !n ? state_of(self, PyType_GetModuleState(type), args[0]) : NULL;
    if (!state)
        return PyErr_Occurred() ? NULL : PyErr_Format(PyExc_TypeError, "scores(state)");
    return scores_of(self->rules, state);
}

/* Tells whether each seat that must decide can: in a state that no match reaches it may have nothing to choose. */
static bool can_go_on(const Rules *rules, const State *state) {
    Legal legal[MOST_SEATS];
    unsigned asked = rules->pending(state, legal);
    for (int seat = 0; seat < MOST_SEATS; seat++)
        if (asked >> seat & 1 && !legal[seat].count && !legal[seat].set)
            return false;
    return true;
}

static PyObject *game_read(GameObject *self, PyTypeObject *type, PyObject *const *args, Py_ssize_t count, PyObject *n) {
    State state;
    char *bytes;
    Py_ssize_t length;
    if (count != 1 || n)
        return PyErr_Format(PyExc_TypeError, "read(view)");
    if (PyBytes_AsStringAndSize(args[0], &bytes, &length))
        return NULL;
    if (!self->rules->read(&state, self->options, (Reader){(uint8_t *)bytes, (uint8_t *)bytes + length}))
        return PyErr_Format(PyExc_ValueError, "this view of %s does not show all of a state", self->rules->name);
    if (!can_go_on(self->rules, &state))
        return PyErr_Format(PyExc_ValueError, "no match of %s reaches this state", self->rules->name);
    return new_state(PyType_GetModuleState(type), self->rules, &state);
}

#define METHOD(name, function, doc) \
    {name, (PyCFunction)(void (*)(void))function, METH_METHOD | METH_FASTCALL | METH_KEYWORDS, doc}
static PyMethodDef game_methods[] = {
    METHOD("start", game_start, "Return the state before the first decision: start(seats, dice)."),
    METHOD("pending", game_pending, "Map each seat that must decide to its legal actions: pending(state)."),
    METHOD("apply", game_apply, "Return the state after all pending seats decided: apply(state, decisions, dice)."),
    METHOD("default_action", game_default, "Return the least harmful action: default_action(state, seat)."),
    METHOD("wire_view", game_view, "Return the view as bytes, the same for all seats: wire_view(state)."),
    METHOD("ranks", game_ranks, "Return the rank of each seat, 0 is best: ranks(state)."),
    METHOD("scores", game_scores, "Return the score of each seat: scores(state)."),
    METHOD("read", game_read, "Return the state that a view shows, given as bytes: read(view)."),
    {0},
};
static PyType_Slot game_slots[] = {
    {Py_tp_doc, "Compiled rules: Game(name, options), options as `arena.core.core_games` encodes them."},
    {Py_tp_new, game_new},
    {Py_tp_methods, game_methods},
    {0, NULL},
};
static PyType_Spec game_spec = {"arena.core.Game", sizeof(GameObject), 0, Py_TPFLAGS_DEFAULT, game_slots};

int add_rules(PyObject *module, Types *types) {
    types->dice = (PyTypeObject *)PyType_FromModuleAndSpec(module, &dice_spec, NULL);
    types->state = (PyTypeObject *)PyType_FromModuleAndSpec(module, &state_spec, NULL);
    types->game = (PyTypeObject *)PyType_FromModuleAndSpec(module, &game_spec, NULL);
    if (!types->dice || !types->state || !types->game)
        return -1;
    return PyModule_AddType(module, types->dice) || PyModule_AddType(module, types->state) ||
                   PyModule_AddType(module, types->game)
               ? -1
               : 0;
}
