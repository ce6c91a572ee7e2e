/* Matches of one learner that are stepped together: see arena/rl/vector.py. */

#include "module.h"

typedef struct {
    State state;
    Dice luck;  /* of the match */
    Dice seeds; /* of the matches that follow each other here */
    bool is_over;
} Place;

typedef struct {
    PyObject_HEAD
    GameObject *game;
    int seats, learner;
    Policy policies[MOST_SEATS];
    Py_ssize_t count;
    bool is_begun; /* all matches have been, by a reset */
    Place *places;
} Batch;

/* What a step fills in, a row for each place. */
typedef struct {
    float *rows;
    int8_t *masks;
    double *rewards;
    bool *over;
} Seen;

/* Plays a step: the learner's action, if it is asked, and what the others' policies choose. False if numbers may grow
   beyond 64 bits. */
static bool play_step(Batch *batch, Place *place, unsigned asked, const Legal *legal, uint8_t action) {
    const Rules *rules = batch->game->rules;
    uint8_t decisions[MOST_SEATS];
    if (!rules->fits(&place->state))
        return false;
    for (int seat = 0; seat < batch->seats; seat++)
        if (asked >> seat & 1)
            decisions[seat] = seat == batch->learner ? action
                                                     : pick(rules, &place->state, seat, &legal[seat],
                                                            &batch->policies[seat], &place->luck);
    rules->apply(&place->state, decisions, &place->luck);
    return true;
}

static bool others_play(Batch *batch, Place *place) {
    Legal legal[MOST_SEATS];
    unsigned asked;
    while ((asked = batch->game->rules->pending(&place->state, legal)) && !(asked >> batch->learner & 1))
        if (!play_step(batch, place, asked, legal, 0))
            return false;
    place->is_over = !asked;
    return true;
}

static bool begin(Batch *batch, Place *place) {
    place->luck = (Dice){.is_fast = true, .fast = next_fast(&place->seeds)};
    batch->game->rules->start(&place->state, batch->seats, &place->luck, batch->game->options);
    return others_play(batch, place);
}

/* Takes the learner's action. Its reward is not 0 only if the match is over then; -1 if the action is not legal. False if
   numbers may grow beyond 64 bits. */
static bool act(Batch *batch, Place *place, int64_t action, double *reward) {
    const Rules *rules = batch->game->rules;
    Legal legal[MOST_SEATS];
    int ranks[MOST_SEATS], beaten = 0;
    unsigned asked = rules->pending(&place->state, legal);
    *reward = 0;
    if (action < 0 || !is_legal(&legal[batch->learner], action)) {
        place->is_over = true;
        *reward = -1;
        return true;
    }
    if (!play_step(batch, place, asked, legal, action) || !others_play(batch, place))
        return false;
    if (place->is_over) {
        rules->ranks(&place->state, ranks);
        for (int seat = 0; seat < batch->seats; seat++)
            beaten += (ranks[seat] > ranks[batch->learner]) - (ranks[seat] < ranks[batch->learner]);
        *reward = beaten / (double)(batch->seats - 1);
    }
    return true;
}

static void show(Batch *batch, Py_ssize_t i, Seen *seen) {
    const Rules *rules = batch->game->rules;
    Place *place = &batch->places[i];
    Legal legal[MOST_SEATS];
    float *row = seen->rows + i * rules->row;
    int8_t *mask = seen->masks + i * rules->actions;
    memset(row, 0, rules->row * sizeof *row);
    memset(mask, 0, rules->actions);
    rules->observe(&place->state, batch->learner, row);
    if (place->is_over || !(rules->pending(&place->state, legal) >> batch->learner & 1))
        return;
    const Legal *own = &legal[batch->learner];
    memset(mask + own->first, 1, own->count);
    for (uint64_t set = own->count ? 0 : own->set; set; set &= set - 1)
        mask[__builtin_ctzll(set)] = 1;
}

/* --- The type */

static bool is_buffer(Py_buffer *buffer, Py_ssize_t bytes) {
    if (buffer->len == bytes)
        return true;
    PyErr_Format(PyExc_ValueError, "an array of %zd bytes is needed, not of %zd", bytes, buffer->len);
    return false;
}

static PyObject *too_large(void) {
    return PyErr_Format(PyExc_OverflowError, "the numbers of a match may grow beyond 64 bits");
}

static PyObject *batch_reset(Batch *self, PyObject *args) {
    unsigned long long seed;
    Py_buffer rows, masks;
    PyObject *result = NULL;
    if (!PyArg_ParseTuple(args, "Kw*w*", &seed, &rows, &masks))
        return NULL;
    if (is_buffer(&rows, self->count * self->game->rules->row * sizeof(float)) &&
        is_buffer(&masks, self->count * self->game->rules->actions)) {
        Dice seeds = {.is_fast = true, .fast = seed};
        Seen seen = {rows.buf, masks.buf, NULL, NULL};
        bool is_fine = true;
        for (Py_ssize_t i = 0; is_fine && i < self->count; i++) {
            self->places[i].seeds = (Dice){.is_fast = true, .fast = next_fast(&seeds)};
            if ((is_fine = begin(self, &self->places[i])))
                show(self, i, &seen);
        }
        self->is_begun = is_fine;
        result = is_fine ? Py_NewRef(Py_None) : too_large();
    }
    PyBuffer_Release(&rows);
    PyBuffer_Release(&masks);
    return result;
}

static PyObject *batch_step(Batch *self, PyObject *args) {
    Py_buffer actions, rows, masks, rewards, over;
    PyObject *result = NULL;
    if (!self->is_begun)
        return PyErr_Format(PyExc_ValueError, "the matches of a batch begin with a reset");
    if (!PyArg_ParseTuple(args, "y*w*w*w*w*", &actions, &rows, &masks, &rewards, &over))
        return NULL;
    if (is_buffer(&actions, self->count * sizeof(int64_t)) &&
        is_buffer(&rows, self->count * self->game->rules->row * sizeof(float)) &&
        is_buffer(&masks, self->count * self->game->rules->actions) && is_buffer(&rewards, self->count * sizeof(double)) &&
        is_buffer(&over, self->count)) {
        Seen seen = {rows.buf, masks.buf, rewards.buf, over.buf};
        bool is_fine = true;
        for (Py_ssize_t i = 0; is_fine && i < self->count; i++) {
            Place *place = &self->places[i];
            seen.rewards[i] = 0;
            is_fine = place->is_over ? begin(self, place)
                                     : act(self, place, ((const int64_t *)actions.buf)[i], &seen.rewards[i]);
            seen.over[i] = place->is_over;
            if (is_fine)
                show(self, i, &seen);
        }
        self->is_begun = is_fine;
        result = is_fine ? Py_NewRef(Py_None) : too_large();
    }
    PyBuffer_Release(&actions);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&masks);
    PyBuffer_Release(&rewards);
    PyBuffer_Release(&over);
    return result;
}

/* --- Copies */

static PyObject *batch_places(Batch *self, PyObject *unused) {
    const Rules *rules = self->game->rules;
    PyObject *places = PyList_New(self->is_begun ? self->count : 0);
    for (Py_ssize_t i = 0; places && i < PyList_GET_SIZE(places); i++) {
        const Place *place = &self->places[i];
        uint8_t bytes[VIEW_BYTES];
        Wire view = {bytes, 0};
        rules->wire_view(&place->state, &view);
        PyObject *made = Py_BuildValue("y#KKN", bytes, (Py_ssize_t)view.length, (unsigned long long)place->luck.fast,
                                       (unsigned long long)place->seeds.fast, PyBool_FromLong(place->is_over));
        if (made)
            PyList_SET_ITEM(places, i, made);
        else
            Py_CLEAR(places);
    }
    return places;
}

static PyObject *batch_restore(Batch *self, PyObject *args) {
    Types *types = PyType_GetModuleState(Py_TYPE(self));
    PyObject *kept;
    if (!PyArg_ParseTuple(args, "O!", &PyList_Type, &kept))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(kept);
    if (count && count != self->count)
        return PyErr_Format(PyExc_ValueError, "a batch of %zd matches is not one of %zd", self->count, count);
    self->is_begun = false;
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *item = PyList_GET_ITEM(kept, i);
        StateObject *state;
        unsigned long long luck, seeds;
        int is_over;
        if (!PyTuple_Check(item))
            return PyErr_Format(PyExc_TypeError, "a match is kept as a tuple");
        if (!PyArg_ParseTuple(item, "O!KKp", types->state, &state, &luck, &seeds, &is_over))
            return NULL;
        if (state->rules != self->game->rules || state->state.seats != self->seats)
            return PyErr_Format(PyExc_ValueError, "a match of this batch has another game, or other seats");
        Legal legal[MOST_SEATS];
        if (!is_over && !(self->game->rules->pending(&state->state, legal) >> self->learner & 1))
            return PyErr_Format(PyExc_ValueError, "a match is over, or it is the learner's turn");
        self->places[i] = (Place){state->state, {.is_fast = true, .fast = luck}, {.is_fast = true, .fast = seeds}, is_over};
    }
    self->is_begun = count > 0;
    Py_RETURN_NONE;
}

static PyObject *batch_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"game", "count", "policies", NULL};
    Types *types = PyType_GetModuleState(type);
    GameObject *game;
    PyObject *policies;
    Py_ssize_t count;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O!nO!", names, types->game, &game, &count, &PyTuple_Type,
                                     &policies))
        return NULL;
    Py_ssize_t seats = PyTuple_GET_SIZE(policies);
    if (seats < game->rules->least_seats || seats > game->rules->most_seats || count < 1)
        return PyErr_Format(PyExc_ValueError, "a batch has one match at least, and as many seats as the game allows");
    Batch *self = (Batch *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->game = (GameObject *)Py_NewRef(game);
    self->seats = seats, self->count = count;
    self->places = PyMem_Calloc(count, sizeof *self->places);
    bool is_fine = self->places || PyErr_NoMemory();
    int learners = 0;
    for (int seat = 0; is_fine && seat < seats; seat++) {
        PyObject *policy = PyTuple_GET_ITEM(policies, seat);
        int is_greedy = 0;
        unsigned long long careless = 0;
        if (policy == Py_None)
            self->learner = seat, learners++;
        else
            is_fine = PyArg_ParseTuple(policy, "pK", &is_greedy, &careless);
        self->policies[seat] = (Policy){is_greedy, careless};
    }
    if (is_fine && learners != 1) {
        PyErr_SetString(PyExc_ValueError, "one seat learns: its policy is None");
        is_fine = false;
    }
    if (!is_fine)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void batch_dealloc(Batch *self) {
    PyTypeObject *type = Py_TYPE(self);
    Py_XDECREF(self->game);
    PyMem_Free(self->places);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef batch_methods[] = {
    {"reset", (PyCFunction)batch_reset, METH_VARARGS,
     "Begin all matches: reset(seed, rows, masks), arrays of float32 and int8 that it fills in."},
    {"step", (PyCFunction)batch_step, METH_VARARGS,
     "Step all matches: step(actions, rows, masks, rewards, over), arrays of int64, float32, int8, float64 and bool.\n\n"
     "A match that was over begins anew, and its action is left out."},
    {"places", (PyCFunction)batch_places, METH_NOARGS,
     "Return each match as it is: its view, the state of its dice and of its seeds, whether it is over; [] before a reset."},
    {"restore", (PyCFunction)batch_restore, METH_VARARGS,
     "Go on with matches like those of `places`, with a State in place of the view; [] leaves all as it is."},
    {0},
};
static PyType_Slot batch_slots[] = {
    {Py_tp_doc, "Matches of one learner: Batch(game, count, policies).\n\n"
                "`policies` has for each seat whether it is greedy and how careless in 2^32, and None for the learner."},
    {Py_tp_new, batch_new},
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_methods, batch_methods},
    {0, NULL},
};
static PyType_Spec batch_spec = {"arena.core.Batch", sizeof(Batch), 0, Py_TPFLAGS_DEFAULT, batch_slots};

int add_batch(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &batch_spec, NULL);
    int failed = !type || PyModule_AddType(module, (PyTypeObject *)type);
    Py_XDECREF(type);
    return failed ? -1 : 0;
}
