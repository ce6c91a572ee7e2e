/* The step of a frame: choices come in, are checked, applied and recorded, and the next questions wait to be sent.

   A frame is looked at as a whole first, and changes nothing then. If each of its choices is legal and answers a question
   that is owed here, `commit` plays them. If any is not, the matches that the frame names are taken back by Python, which
   judges the frame: every fault has one implementation, there. Time, faults, beginnings and ends are Python's as well.

   Who owns what. A seat is a part of its match and lives as long; it keeps its stream alive. A stream owns no match: its
   buckets, its queue and, from `look` to `commit`, its `choices` borrow pointers to seats. Whoever keeps the match (the
   loan, in Python) owns them meanwhile. Between `look` and `commit` Python runs, and with it the garbage collector, which
   may free a match. So a match is freed or taken back only through `match_clear`, which first lets go of each seat:
   `let_go` takes it out of all three. */

#include "module.h"

#include <structmember.h>

enum { BUCKETS = 1024, HEAD = 128, CHOICE_FIELD = 2 };
enum { DECISIONS_FIELD = 5, LEGAL = 3, LEGAL_FIRST = 4, LEGAL_COUNT = 5 };

typedef struct Seat Seat;
typedef struct Match Match;
typedef struct Stream Stream;

/* What a seat waits for. */
typedef enum { NOTHING, TO_BE_ASKED, ANSWER } Waits;

struct Seat {
    Match *match;
    Stream *stream;
    uint32_t number; /* of the match on the stream */
    Waits waits;
    uint32_t asked; /* the number of its last decision in the match */
    Legal legal;
    uint64_t looked_at; /* the look of its stream at which it was last named */
    PyObject *bank;     /* what is left of the bank, encoded */
    PyObject *opening;  /* the start of the match, encoded, until it is sent */
    uint8_t *question;
    size_t length, room;
    double *times; /* seconds of each decision */
    size_t answered, times_room;
    Seat *next, *previous;   /* in the queue of its stream */
    Seat *next_of_bucket;    /* among those whose numbers end alike */
};

struct Match {
    PyObject_HEAD
    PyObject *owner;
    const Rules *rules;
    State state;
    Dice dice;
    unsigned view_field;
    uint32_t asked;      /* decisions asked so far */
    uint32_t steps;      /* steps played so far */
    unsigned waited_for; /* the seats that have not answered in this step, as a set */
    unsigned deciding;   /* all seats that decide in this step */
    uint8_t decisions[MOST_SEATS];
    uint8_t *choices; /* seat and action in turn */
    size_t chosen, choices_room;
    bool is_held; /* whether its seats are on their streams */
    Seat seats[MOST_SEATS];
};

typedef struct {
    Seat *seat;
    uint8_t action;
} Choice;

struct Stream {
    PyObject_HEAD
    PyObject *owner;
    Seat *buckets[BUCKETS];
    Seat *first, *last; /* the queue */
    Py_ssize_t queued, firsts, owed, held;
    uint64_t looks;
    Choice *choices; /* of the frame that was looked at */
    size_t chosen, room;
};

/* --- Memory */

static bool grow(void *array, size_t *room, size_t needed, size_t size) {
    if (needed <= *room)
        return true;
    size_t more = *room ? *room : 16;
    while (more < needed)
        more *= 2;
    void *grown = PyMem_Realloc(*(void **)array, more * size);
    if (!grown) {
        PyErr_NoMemory();
        return false;
    }
    *(void **)array = grown;
    *room = more;
    return true;
}

/* --- A stream's queue and table */

static void enqueue(Seat *seat) {
    Stream *stream = seat->stream;
    seat->waits = TO_BE_ASKED;
    seat->next = NULL;
    seat->previous = stream->last;
    *(stream->last ? &stream->last->next : &stream->first) = seat;
    stream->last = seat;
    stream->queued++;
    stream->firsts += !seat->answered;
}

static void dequeue(Seat *seat) {
    Stream *stream = seat->stream;
    *(seat->previous ? &seat->previous->next : &stream->first) = seat->next;
    *(seat->next ? &seat->next->previous : &stream->last) = seat->previous;
    stream->queued--;
    stream->firsts -= !seat->answered;
    seat->waits = NOTHING;
}

static Seat **bucket(Stream *stream, uint64_t number) { return &stream->buckets[number % BUCKETS]; }

static Seat *find(Stream *stream, uint64_t number) {
    Seat *seat = *bucket(stream, number);
    while (seat && seat->number != number)
        seat = seat->next_of_bucket;
    return seat;
}

static void hold(Seat *seat) {
    Seat **first = bucket(seat->stream, seat->number);
    seat->next_of_bucket = *first;
    *first = seat;
    seat->stream->held++;
}

static void let_go(Seat *seat) {
    Stream *stream = seat->stream;
    if (!stream)
        return;
    if (seat->waits == TO_BE_ASKED)
        dequeue(seat);
    else if (seat->waits == ANSWER)
        stream->owed--;
    seat->waits = NOTHING;
    Seat **at = bucket(stream, seat->number);
    while (*at && *at != seat)
        at = &(*at)->next_of_bucket;
    if (*at) {
        *at = seat->next_of_bucket;
        stream->held--;
    }
    /* The frame that was looked at may name the seat, whose memory may be gone at `commit`. To look for it there is not
       worth the while: the whole frame is forgotten, and `commit` plays nothing. A match that ends in `commit` lets go
       here, too, while the rest of the frame is to be played: `commit` counts by a copy of its own. */
    stream->chosen = 0;
}

static void let_go_of_all(Match *match) {
    for (int i = 0; match->is_held && i < match->state.seats; i++)
        let_go(&match->seats[i]);
    match->is_held = false;
}

/* --- Questions */

static bool put_question(Seat *seat, const Wire *view) {
    Match *match = seat->match;
    uint8_t head[HEAD];
    Wire first = {head, 0}, whole;
    put_number(&first, 1, seat->number);
    put_number(&first, 2, seat->asked);
    if (seat->legal.count) {
        put_unless_zero(&first, LEGAL_FIRST, seat->legal.first);
        put_number(&first, LEGAL_COUNT, seat->legal.count);
    } else {
        put_varint(&first, LEGAL << 3 | BLOCK);
        put_varint(&first, __builtin_popcountll(seat->legal.set));
        for (uint64_t set = seat->legal.set; set; set &= set - 1)
            first.bytes[first.length++] = __builtin_ctzll(set);
    }
    size_t bank = PyBytes_GET_SIZE(seat->bank), length = first.length + bank + 8 + view->length;
    if (!grow(&seat->question, &seat->room, length + 8, 1))
        return false;
    /* The length of the whole comes first, and is known once the length of the view's length is. */
    uint8_t of_view[8];
    Wire size = {of_view, 0};
    put_varint(&size, match->view_field << 3 | BLOCK);
    put_varint(&size, view->length);
    whole = (Wire){seat->question, 0};
    put_varint(&whole, DECISIONS_FIELD << 3 | BLOCK);
    put_varint(&whole, first.length + bank + size.length + view->length);
    put_bytes(&whole, first.bytes, first.length);
    put_bytes(&whole, PyBytes_AS_STRING(seat->bank), bank);
    put_bytes(&whole, size.bytes, size.length);
    put_bytes(&whole, view->bytes, view->length);
    seat->length = whole.length;
    return true;
}

/* Puts the decisions of the next step to its seats; at the end of the match there are none. */
static bool ask(Match *match) {
    Legal legal[MOST_SEATS];
    uint8_t bytes[VIEW_BYTES];
    Wire view = {bytes, 0};
    match->deciding = match->waited_for = match->rules->pending(&match->state, legal);
    if (match->deciding)
        match->rules->wire_view(&match->state, &view);
    for (int i = 0; i < match->state.seats; i++) {
        Seat *seat = &match->seats[i];
        if (!(match->deciding >> i & 1))
            continue;
        seat->asked = ++match->asked;
        seat->legal = legal[i];
        if (!put_question(seat, &view))
            return false;
        enqueue(seat);
    }
    return true;
}

/* --- A frame of choices */

/* Reads a choice; false if it is anything but three numbers of 32 bits, each given once at most. */
static bool read_choice(Reader reader, uint32_t *match, uint32_t *decision, uint32_t *action) {
    uint32_t *values[] = {match, decision, action};
    unsigned seen = 0;
    Field field;
    *match = *decision = *action = 0;
    while (read_field(&reader, &field)) {
        if (field.kind != VARINT || field.number > 3 || field.value > UINT32_MAX || seen >> field.number & 1)
            return false;
        seen |= 1u << field.number;
        *values[field.number - 1] = field.value;
    }
    return reader.at == reader.end;
}

/* Notes a choice to be played; false if it is not one that can be. */
static bool note(Stream *stream, Seat *seat, uint32_t decision, uint32_t action) {
    if (!seat || seat->waits != ANSWER || seat->asked != decision || !is_legal(&seat->legal, action))
        return false;
    if (seat->looked_at == stream->looks || !seat->match->rules->fits(&seat->match->state))
        return false;
    seat->looked_at = stream->looks;
    stream->choices[stream->chosen++] = (Choice){seat, action};
    return true;
}

/* Adds an object to a list, unless it is there. */
static bool add_once(PyObject *list, PyObject *object) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(list); i++)
        if (PyList_GET_ITEM(list, i) == object)
            return true;
    return !PyList_Append(list, object);
}

static PyObject *stream_look(Stream *self, PyObject *raw) {
    char *bytes;
    Py_ssize_t length;
    Field field;
    bool is_usual = true;
    if (PyBytes_AsStringAndSize(raw, &bytes, &length))
        return NULL;
    self->looks++;
    self->chosen = 0;
    /* A choice takes two bytes at least. */
    if (!grow(&self->choices, &self->room, length / 2 + 1, sizeof *self->choices))
        return NULL;
    Reader reader = {(uint8_t *)bytes, (uint8_t *)bytes + length};
    while (read_field(&reader, &field)) {
        uint32_t match, decision, action;
        if (field.kind != BLOCK || field.number != CHOICE_FIELD ||
            !read_choice(field.block, &match, &decision, &action) ||
            !note(self, find(self, match), decision, action))
            is_usual = false;
    }
    if (!is_usual || reader.at != reader.end)
        self->chosen = 0;
    return PyLong_FromSize_t(self->chosen);
}

/* The owners of the matches with these numbers that are played here. */
static PyObject *stream_lent(Stream *self, PyObject *numbers) {
    PyObject *owners = PyList_New(0), *each, *iterator = PyObject_GetIter(numbers);
    while (owners && iterator && (each = PyIter_Next(iterator))) {
        unsigned long number = PyLong_AsUnsignedLongMask(each);
        Py_DECREF(each);
        Seat *seat = find(self, number);
        if (seat && !add_once(owners, seat->match->owner))
            Py_CLEAR(owners);
    }
    Py_XDECREF(iterator);
    if (PyErr_Occurred())
        Py_CLEAR(owners);
    return owners;
}

/* Plays the step for which all have answered. At the end of the match its seats are off their streams, but they live on:
   the loan ends, and with it the match, after `commit`. */
static bool step(Match *match, PyObject *ended, PyObject *touched) {
    for (int i = 0; i < match->state.seats; i++)
        if (match->deciding >> i & 1) {
            match->choices[match->chosen++] = i;
            match->choices[match->chosen++] = match->decisions[i];
        }
    match->rules->apply(&match->state, match->decisions, &match->dice);
    match->steps++;
    if (!ask(match))
        return false;
    if (!match->deciding) {
        let_go_of_all(match);
        return !PyList_Append(ended, match->owner);
    }
    for (int i = 0; i < match->state.seats; i++)
        if (match->deciding >> i & 1 && !add_once(touched, match->seats[i].stream->owner))
            return false;
    return true;
}

/* Takes an answer; room for its time and choice was made before. */
static bool take(Choice choice, double seconds, PyObject *ended, PyObject *touched) {
    Seat *seat = choice.seat;
    Match *match = seat->match;
    int index = seat - match->seats;
    seat->times[seat->answered++] = seconds;
    seat->waits = NOTHING;
    seat->stream->owed--;
    match->decisions[index] = choice.action;
    match->waited_for &= ~(1u << index);
    return match->waited_for || step(match, ended, touched);
}

static PyObject *stream_commit(Stream *self, PyObject *seconds) {
    double share = PyFloat_AsDouble(seconds);
    if (PyErr_Occurred())
        return NULL;
    PyObject *ended = PyList_New(0), *touched = PyList_New(0);
    bool is_done = ended && touched;
    /* From here on no foreign code runs until all is played: the lists were made before, as to make an object may set off
       the garbage collector, and to lengthen one does not. So no seat is freed, and the copy stands for `chosen`, which
       each match that ends sets to 0. No later choice names such a match: its last step waited for all of them. */
    size_t chosen = self->chosen;
    for (size_t i = 0; is_done && i < chosen; i++) {
        Seat *seat = self->choices[i].seat;
        Match *match = seat->match;
        is_done = grow(&seat->times, &seat->times_room, seat->answered + 1, sizeof *seat->times) &&
                  grow(&match->choices, &match->choices_room, match->chosen + 2 * MOST_SEATS, 1);
    }
    for (size_t i = 0; is_done && i < chosen; i++)
        is_done = take(self->choices[i], share, ended, touched);
    self->chosen = 0;
    PyObject *both = is_done ? PyTuple_Pack(2, ended, touched) : NULL;
    Py_XDECREF(ended);
    Py_XDECREF(touched);
    return both;
}

/* --- A frame of questions */

static PyObject *joined(size_t length, Py_ssize_t count, Seat **seats, bool openings) {
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, length);
    Wire wire = {bytes ? (uint8_t *)PyBytes_AS_STRING(bytes) : NULL, 0};
    for (Py_ssize_t i = 0; bytes && i < count; i++) {
        Seat *seat = seats[i];
        if (!openings)
            put_bytes(&wire, seat->question, seat->length);
        else if (seat->opening) {
            put_bytes(&wire, PyBytes_AS_STRING(seat->opening), PyBytes_GET_SIZE(seat->opening));
            Py_CLEAR(seat->opening);
        }
    }
    return bytes;
}

static PyObject *stream_cut(Stream *self, PyObject *args) {
    Py_ssize_t size, first_size, firsts = 0, count = 0;
    size_t openings = 0, questions = 0;
    if (!PyArg_ParseTuple(args, "nn", &size, &first_size))
        return NULL;
    Seat **seats = PyMem_New(Seat *, self->queued + 1);
    if (!seats)
        return PyErr_NoMemory();
    for (Seat *seat = self->first, *next; seat && count < size; seat = next) {
        next = seat->next;
        if (!seat->answered && firsts == first_size)
            continue;
        firsts += !seat->answered;
        dequeue(seat);
        seat->waits = ANSWER;
        questions += seat->length;
        openings += seat->opening ? PyBytes_GET_SIZE(seat->opening) : 0;
        seats[count++] = seat;
    }
    self->owed += count;
    PyObject *starts = joined(openings, count, seats, true), *asked = joined(questions, count, seats, false);
    PyMem_Free(seats);
    PyObject *parts = starts && asked ? Py_BuildValue("nnOO", count, firsts, starts, asked) : NULL;
    Py_XDECREF(starts);
    Py_XDECREF(asked);
    return parts;
}

/* The matches whose answers are owed. */
static PyObject *stream_owing(Stream *self, PyObject *nothing) {
    size_t count = 0;
    uint64_t *owed = PyMem_New(uint64_t, self->owed + 1); /* number, and whether it is the first */
    (void)nothing;
    if (!owed)
        return PyErr_NoMemory();
    for (int i = 0; i < BUCKETS; i++)
        for (Seat *seat = self->buckets[i]; seat; seat = seat->next_of_bucket)
            if (seat->waits == ANSWER)
                owed[count++] = (uint64_t)seat->number << 1 | !seat->answered;
    PyObject *numbers = PyList_New(0);
    for (size_t i = 0; numbers && i < count; i++) {
        PyObject *pair = Py_BuildValue("KO", (unsigned long long)owed[i] >> 1, owed[i] & 1 ? Py_True : Py_False);
        if (!pair || PyList_Append(numbers, pair))
            Py_CLEAR(numbers);
        Py_XDECREF(pair);
    }
    PyMem_Free(owed);
    return numbers;
}

/* --- The types */

static int stream_traverse(Stream *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->owner);
    return 0;
}

static int stream_clear(Stream *self) {
    Py_CLEAR(self->owner);
    return 0;
}

static void stream_dealloc(Stream *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    stream_clear(self);
    PyMem_Free(self->choices);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *stream_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"owner", NULL};
    PyObject *owner;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O", names, &owner))
        return NULL;
    Stream *self = (Stream *)type->tp_alloc(type, 0);
    if (self)
        self->owner = Py_NewRef(owner);
    return (PyObject *)self;
}

static PyMethodDef stream_methods[] = {
    {"look", (PyCFunction)stream_look, METH_O,
     "Read a frame, given as bytes, and change nothing: look(raw).\n\n"
     "Returns how many choices it has if `commit` can play all of them, else 0."},
    {"lent", (PyCFunction)stream_lent, METH_O,
     "Return the owners of those matches with such numbers on the stream that are played here: lent(numbers)."},
    {"commit", (PyCFunction)stream_commit, METH_O,
     "Play the frame that was looked at last, each choice of which took so many seconds: commit(seconds).\n\n"
     "Returns the owners of the matches that ended, and those of the streams where questions wait now."},
    {"cut", (PyCFunction)stream_cut, METH_VARARGS,
     "Take questions for a frame: cut(size, first_size), how many at most, and how many first ones.\n\n"
     "Returns how many it took, how many first ones, the starts of their matches and the questions, encoded."},
    {"owing", (PyCFunction)stream_owing, METH_NOARGS,
     "Return the numbers of the matches whose answers are owed, each with whether it is the first of its seat."},
    {0},
};
static PyMemberDef stream_members[] = {
    {"queued", T_PYSSIZET, offsetof(Stream, queued), READONLY, "How many questions wait."},
    {"firsts", T_PYSSIZET, offsetof(Stream, firsts), READONLY, "How many of them are the first of their seat."},
    {"owed", T_PYSSIZET, offsetof(Stream, owed), READONLY, "How many answers are owed."},
    {"held", T_PYSSIZET, offsetof(Stream, held), READONLY, "How many seats it has here."},
    {0},
};
static PyType_Slot stream_slots[] = {
    {Py_tp_doc, "The matches of one bot's stream that are played here: Stream(owner)."},
    {Py_tp_new, stream_new},
    {Py_tp_dealloc, stream_dealloc},
    {Py_tp_traverse, stream_traverse},
    {Py_tp_clear, stream_clear},
    {Py_tp_methods, stream_methods},
    {Py_tp_members, stream_members},
    {0, NULL},
};
static PyType_Spec stream_spec = {"arena.core.Stream", sizeof(Stream), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                  stream_slots};

static int match_traverse(Match *self, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->owner);
    for (int i = 0; i < MOST_SEATS; i++)
        Py_VISIT(self->seats[i].stream);
    return 0;
}

static int match_clear(Match *self) {
    let_go_of_all(self);
    Py_CLEAR(self->owner);
    for (int i = 0; i < MOST_SEATS; i++)
        Py_CLEAR(self->seats[i].stream);
    return 0;
}

static void match_dealloc(Match *self) {
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    match_clear(self);
    for (int i = 0; i < MOST_SEATS; i++) {
        Py_CLEAR(self->seats[i].bank);
        Py_CLEAR(self->seats[i].opening);
        PyMem_Free(self->seats[i].question);
        PyMem_Free(self->seats[i].times);
    }
    PyMem_Free(self->choices);
    type->tp_free(self);
    Py_DECREF(type);
}

static bool sit(Match *match, Types *types, PyObject *given, Seat *seat) {
    PyObject *stream, *bank, *opening;
    unsigned long number;
    if (!PyArg_ParseTuple(given, "O!kSS", types->stream, &stream, &number, &bank, &opening))
        return false;
    if (number < 1 || number > UINT32_MAX || PyBytes_GET_SIZE(bank) > 16 || !PyBytes_CheckExact(opening)) {
        PyErr_SetString(PyExc_ValueError, "a seat is (stream, number of the match there, encoded bank, encoded start)");
        return false;
    }
    *seat = (Seat){.match = match, .stream = (Stream *)Py_NewRef(stream), .number = number, .bank = Py_NewRef(bank)};
    seat->opening = PyBytes_GET_SIZE(opening) ? Py_NewRef(opening) : NULL;
    return true;
}

static PyObject *match_new(PyTypeObject *type, PyObject *args, PyObject *named) {
    static char *names[] = {"owner", "game", "seed", "view_field", "seats", NULL};
    Types *types = PyType_GetModuleState(type);
    PyObject *owner, *seats;
    GameObject *game;
    Py_buffer seed;
    unsigned view_field;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO!y*IO!", names, &owner, types->game, &game, &seed, &view_field,
                                     &PyTuple_Type, &seats))
        return NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(seats);
    Match *self = (Match *)type->tp_alloc(type, 0);
    if (!self)
        goto done;
    bool is_fine = seed.len == 32 && view_field < 16 && count >= game->rules->least_seats &&
                   count <= game->rules->most_seats;
    self->rules = game->rules;
    self->owner = Py_NewRef(owner);
    self->view_field = view_field;
    if (is_fine) {
        seed_dice(&self->dice, seed.buf);
        self->rules->start(&self->state, count, &self->dice, game->options);
    } else
        PyErr_SetString(PyExc_ValueError, "a match has 32 bytes of seed, and as many seats as the game allows");
    for (int i = 0; is_fine && i < self->state.seats; i++)
        is_fine = sit(self, types, PyTuple_GET_ITEM(seats, i), &self->seats[i]);
    if (is_fine) {
        for (int i = 0; i < self->state.seats; i++)
            hold(&self->seats[i]);
        self->is_held = true;
        is_fine = ask(self);
    }
    if (!is_fine)
        Py_CLEAR(self);
done:
    PyBuffer_Release(&seed);
    return (PyObject *)self;
}

static PyObject *times_of(const Seat *seat) {
    size_t answered = seat->answered;
    PyObject *times = PyList_New(answered);
    for (size_t i = 0; times && i < answered; i++) {
        PyObject *seconds = PyFloat_FromDouble(seat->times[i]);
        if (!seconds)
            Py_CLEAR(times);
        else
            PyList_SET_ITEM(times, i, seconds);
    }
    return times;
}

static PyObject *taken(Match *match, int index) {
    Seat *seat = &match->seats[index];
    bool has_chosen = match->deciding >> index & 1 && !(match->waited_for >> index & 1);
    PyObject *times = times_of(seat);
    if (!times)
        return NULL;
    PyObject *opening = seat->opening ? Py_NewRef(seat->opening) : PyBytes_FromStringAndSize("", 0);
    PyObject *action = has_chosen ? PyLong_FromLong(match->decisions[index]) : Py_NewRef(Py_None);
    return Py_BuildValue("NNNN", times, PyBool_FromLong(seat->waits == ANSWER), opening, action);
}

/* The choices as pairs of seat and action. Equal ones are one object, which pickles once. */
static PyObject *choices_of(const Match *match) {
    Types *types = PyType_GetModuleState(Py_TYPE(match));
    size_t chosen = match->chosen;
    PyObject *choices = PyTuple_New(chosen / 2);
    for (size_t i = 0; choices && i < chosen; i += 2) {
        PyObject **pair = &types->pairs[match->choices[i]][match->choices[i + 1]];
        if (!*pair && !(*pair = Py_BuildValue("ii", match->choices[i], match->choices[i + 1])))
            Py_CLEAR(choices);
        else
            PyTuple_SET_ITEM(choices, i / 2, Py_NewRef(*pair));
    }
    return choices;
}

static PyObject *match_take_back(Match *self, PyObject *nothing) {
    PyObject *choices = choices_of(self), *seats = PyList_New(0);
    bool is_done = choices && seats;
    (void)nothing;
    for (int i = 0; is_done && i < self->state.seats; i++) {
        PyObject *seat = taken(self, i);
        is_done = seat && !PyList_Append(seats, seat);
        Py_XDECREF(seat);
    }
    PyObject *all = is_done ? PyTuple_Pack(2, choices, seats) : NULL;
    Py_XDECREF(choices);
    Py_XDECREF(seats);
    if (all)
        match_clear(self);
    return all;
}

static PyObject *match_ranks(Match *self, void *nothing) {
    (void)nothing;
    return ranks_of(self->rules, &self->state);
}

static PyObject *match_scores(Match *self, void *nothing) {
    (void)nothing;
    return scores_of(self->rules, &self->state);
}

static PyObject *match_steps(Match *self, void *nothing) {
    (void)nothing;
    return PyLong_FromUnsignedLong(self->steps);
}

static PyObject *match_view(Match *self, void *nothing) {
    uint8_t bytes[VIEW_BYTES];
    Wire view = {bytes, 0};
    (void)nothing;
    self->rules->wire_view(&self->state, &view);
    return PyBytes_FromStringAndSize((char *)bytes, view.length);
}

static PyObject *match_asked(Match *self, PyObject *index) {
    long seat = PyLong_AsLong(index);
    if (PyErr_Occurred())
        return NULL;
    if (seat < 0 || seat >= self->state.seats)
        return PyErr_Format(PyExc_IndexError, "no seat %ld", seat);
    return PyLong_FromUnsignedLong(self->seats[seat].asked);
}

static PyMethodDef match_methods[] = {
    {"take_back", (PyCFunction)match_take_back, METH_NOARGS,
     "Stop playing it here.\n\n"
     "Returns its choices, and of each seat: the seconds of its decisions, whether it owes an answer, the start of the\n"
     "match if that was not sent, and its answer in a step for which others have not answered yet."},
    {"asked", (PyCFunction)match_asked, METH_O, "Return the number of a seat's last decision: asked(seat)."},
    {0},
};
static PyGetSetDef match_values[] = {
    {"ranks", (getter)match_ranks, NULL, "The rank of each seat, 0 is best.", NULL},
    {"scores", (getter)match_scores, NULL, "The score of each seat.", NULL},
    {"steps", (getter)match_steps, NULL, "How many steps were played.", NULL},
    {"view", (getter)match_view, NULL, "The view of the state, encoded.", NULL},
    {0},
};
static PyType_Slot match_slots[] = {
    {Py_tp_doc, "A match that is played here: Match(owner, game, seed, view_field, seats).\n\n"
                "It begins at once, and its first questions wait on the streams. A seat is the stream, the number of the\n"
                "match there, what is left of the bank and the start of the match, both encoded."},
    {Py_tp_new, match_new},
    {Py_tp_dealloc, match_dealloc},
    {Py_tp_traverse, match_traverse},
    {Py_tp_clear, match_clear},
    {Py_tp_methods, match_methods},
    {Py_tp_getset, match_values},
    {0, NULL},
};
static PyType_Spec match_spec = {"arena.core.Match", sizeof(Match), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                                 match_slots};

int add_frames(PyObject *module, Types *types) {
    types->stream = (PyTypeObject *)PyType_FromModuleAndSpec(module, &stream_spec, NULL);
    types->match = (PyTypeObject *)PyType_FromModuleAndSpec(module, &match_spec, NULL);
    if (!types->stream || !types->match)
        return -1;
    return PyModule_AddType(module, types->stream) || PyModule_AddType(module, types->match) ? -1 : 0;
}
