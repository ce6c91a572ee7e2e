/* The Python module: rules, and frames of matches that are played by them. */

#include "module.h"

static int fill(PyObject *module) {
    Types *types = PyModule_GetState(module);
    return add_rules(module, types) || add_playouts(module) || add_batch(module) || add_frames(module, types) ? -1 : 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};
static PyModuleDef module = {
    PyModuleDef_HEAD_INIT, .m_name = "_core", .m_size = sizeof(Types), .m_slots = slots,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModuleDef_Init(&module); }
