/* First program in the process of every bot and build: restricts itself as ordered, then becomes the command.
 *
 * The same as launcher.py, which says what each order means and is the reference; a start in C takes a twentieth of the
 * processor time. Whatever fails ends it with UNABLE and a line on stderr, before the command begins. It may run as
 * root, so it uses no shell, reads nothing of the environment but PATH, and closes what it opens when it becomes the
 * command. Numbers of Linux that headers of older systems lack are written out.
 */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <grp.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { UNABLE = 97, NO_PROGRAM = 127 };

static const char BEGAN[] = "\"exit-code\"";
static const char *order = "";  /* the one that is carried out */

/* --- Failures */

static _Noreturn void give_up(const char *what, const char *why) {
    if (what)
        dprintf(STDERR_FILENO, "sandbox: %s: %s: %s\n", order, what, why);
    else
        dprintf(STDERR_FILENO, "sandbox: %s: %s\n", order, why);
    _exit(UNABLE);
}

/* Return the result of a system call; give up if it failed. `what` it was about, mostly a path, may be NULL. */
static int checked(long result, const char *what) {
    if (result < 0) give_up(what, strerror(errno));
    return (int)result;
}

static _Noreturn void make_no_sense(void) { give_up(NULL, "makes no sense"); }

/* --- Values of orders */

static unsigned long long number(const char *text) {
    char *end;
    if (*text < '0' || *text > '9') make_no_sense();
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno || *end) make_no_sense();
    return value;
}

static int small(const char *text) {
    unsigned long long value = number(text);
    if (value > INT_MAX) make_no_sense();
    return (int)value;
}

static unsigned id(const char *text) {
    unsigned long long value = number(text);
    if (value >= UINT32_MAX) make_no_sense();  /* the last one means "as it is" to the kernel */
    return (unsigned)value;
}

static void *array(size_t count, size_t size) {
    void *made = calloc(count ? count : 1, size);
    if (!made) checked(-1, NULL);
    return made;
}

/* --- Files and mounts */

static int opened(const char *path, int flags) { return checked(open(path, flags | O_CLOEXEC, 0777), path); }

static void write_to(const char *path, const char *text) {
    int file = opened(path, O_WRONLY);
    checked(write(file, text, strlen(text)), NULL);
    checked(close(file), NULL);
}

/* Read a file to its end, or give up if it has more than `room` bytes. Returns how many it has. */
static size_t read_from(const char *path, char *bytes, size_t room) {
    int file = opened(path, O_RDONLY);
    size_t size = 0;
    int more;
    while ((more = checked(read(file, bytes + size, room - size), path)) > 0) {
        size += (size_t)more;
        if (size == room) give_up(path, strerror(EFBIG));
    }
    close(file);
    return size;
}

static void attach(const char *source, const char *target, unsigned long flags, const char *kind, const char *options) {
    checked(mount(source, target, kind, flags, options), target);
}

static void own_mounts(void) {
    checked(unshare(CLONE_NEWNS), "unshare");
    attach("none", "/", MS_REC | MS_PRIVATE, "none", NULL);
}

static bool is_folder(int file, const char *path) {
    struct stat status;
    checked(fstat(file, &status), path);
    return S_ISDIR(status.st_mode);
}

/* Mount an opened file or folder at a path that does not exist yet, and close it. */
static void show(int place, const char *target) {
    char source[sizeof "/proc/self/fd/" + 3 * sizeof place];
    snprintf(source, sizeof source, "/proc/self/fd/%d", place);
    if (is_folder(place, source))
        checked(mkdir(target, 0777), target);
    else
        close(opened(target, O_CREAT));
    attach(source, target, MS_BIND | MS_REC, "none", NULL);
    close(place);
}

/* --- Orders, each as in launcher.py */

static void report(int count, char **values) {
    (void)count;
    bool stays_open = small(values[1]);
    checked(dup3(STDIN_FILENO, small(values[0]), stays_open ? 0 : O_CLOEXEC), NULL);
    int nothing = opened("/dev/null", O_RDONLY);
    checked(dup2(nothing, STDIN_FILENO), NULL);
    close(nothing);
}

static void set_umask(int count, char **values) {
    (void)count;
    umask((mode_t)small(values[0]));
}

static void join(int count, char **values) {
    for (int i = 0; i < count; i++) write_to(values[i], "0");
}

static void expendable(int count, char **values) {
    (void)count, (void)values;
    write_to("/proc/self/oom_score_adj", "1000");
}

static void enter(int count, char **values) {
    (void)count;
    int namespace = opened(values[0], O_RDONLY);
    checked(setns(namespace, CLONE_NEWUSER), "setns");
    close(namespace);
}

static const char *within(const char *folder, const char *name, char path[PATH_MAX]) {
    if (snprintf(path, PATH_MAX, "%s/%s", folder, name) >= PATH_MAX) make_no_sense();
    return path;
}

static void stage(int count, char **values) {
    const char *folder = values[0];
    char target[PATH_MAX];
    int *places = array((size_t)count, sizeof *places);
    own_mounts();
    umount2("/sys", MNT_DETACH);  /* it may be no mount, or not ours in a namespace */
    for (int i = 1; i < count; i++) places[i] = opened(values[i], O_PATH);
    attach("tmpfs", folder, MS_NOSUID | MS_NODEV, "tmpfs", NULL);
    close(opened(within(folder, "empty", target), O_CREAT));
    checked(mkdir(within(folder, "nothing", target), 0777), target);
    for (int i = 1; i < count; i++) {
        char name[sizeof "-2147483648"];
        snprintf(name, sizeof name, "%d", i - 1);
        show(places[i], within(folder, name, target));
    }
    free(places);
}

/* Return the length of the outermost folder above a place that the user may not enter; 0: there is none. */
static size_t shut_by(char *place, uid_t uid, gid_t gid) {
    for (char *end = place; (end = strchr(end + 1, '/'));) {
        struct stat status;
        *end = '\0';
        checked(stat(place, &status), place);
        *end = '/';
        mode_t right = status.st_uid == uid ? 0100 : status.st_gid == gid ? 0010 : 0001;
        if (!(status.st_mode & right)) return (size_t)(end - place);
    }
    return 0;
}

static void stop_access_times(void) {
    enum { MOUNT_SETATTR = 442, RECURSIVE = 0x8000, NOATIME = 0x10, ALL_OF_ATIME = 0x70 };
    const uint64_t wanted[] = {NOATIME, ALL_OF_ATIME, 0, 0};
    syscall(MOUNT_SETATTR, AT_FDCWD, "/", RECURSIVE, wanted, sizeof wanted);  /* older kernels cannot */
}

static bool lies_in(const char *path, const char *folder, size_t length) {
    return strncmp(path, folder, length) == 0 && path[length] == '/';
}

static void make_folders_above(char *place) {
    for (char *end = place; (end = strchr(end + 1, '/'));) {
        *end = '\0';
        if (mkdir(place, 0777) < 0 && errno != EEXIST) checked(-1, place);
        *end = '/';
    }
}

struct hidden {
    char *path;
    size_t shut;  /* length of the closed folder above it; 0: nothing need be done */
    int opened;
};

static void hide_folder_of(const struct hidden *places, int which) {
    const struct hidden *place = &places[which];
    for (int i = 0; i < which; i++)
        if (places[i].shut == place->shut && !strncmp(places[i].path, place->path, place->shut)) return;
    place->path[place->shut] = '\0';
    attach("tmpfs", place->path, MS_NOSUID | MS_NODEV, "tmpfs", NULL);
    checked(chmod(place->path, 0755), place->path);
    place->path[place->shut] = '/';
}

static void uncover(int count, char **values) {
    uid_t uid = id(values[0]);
    gid_t gid = id(values[1]);
    char here[PATH_MAX];
    struct hidden *places = array((size_t)count, sizeof *places);
    count -= 2;
    own_mounts();
    stop_access_times();
    for (int i = 0; i < count; i++) {
        places[i].path = values[i + 2];
        places[i].shut = shut_by(places[i].path, uid, gid);
    }
    for (int i = 0; i < count; i++)
        for (int j = 0; j < count; j++)  /* it is shown as part of the place that contains it */
            if (places[j].shut && lies_in(places[i].path, places[j].path, strlen(places[j].path))) places[i].shut = 0;
    for (int i = 0; i < count; i++)
        if (places[i].shut) places[i].opened = opened(places[i].path, O_PATH);
    for (int i = 0; i < count; i++)
        if (places[i].shut) hide_folder_of(places, i);
    for (int i = 0; i < count; i++)
        if (places[i].shut) {
            make_folders_above(places[i].path);
            show(places[i].opened, places[i].path);
        }
    if (!getcwd(here, sizeof here)) checked(-1, NULL);
    checked(chdir(here), here);  /* enter the same path through the new mounts */
    free(places);
}

static void temporary(int count, char **values) {
    (void)count;
    char options[100];
    snprintf(options, sizeof options, "size=%llu,nr_inodes=%llu,mode=1777", number(values[1]), number(values[2]));
    attach("tmpfs", values[0], MS_NOSUID | MS_NODEV, "tmpfs", options);
}

static void open_filter(int count, char **values) {
    (void)count;
    int file = opened(values[0], O_RDONLY);
    checked(dup2(file, small(values[1])), NULL);
    close(file);
}

static void become(int count, char **values) {
    (void)count;
    uid_t uid = id(values[0]);
    gid_t gid = id(values[1]);
    checked(setgroups(0, NULL), NULL);
    checked(setresgid(gid, gid, gid), NULL);
    checked(setresuid(uid, uid, uid), NULL);
}

static void clear_capabilities(void) {
    struct { uint32_t version; int process; } header = {0x20080522, 0};
    const uint32_t nothing[6] = {0};
    checked(syscall(SYS_capset, &header, nothing), "capset");
}

static void end_predecessors(int count, char **values) {
    (void)count, (void)values;
    clear_capabilities();  /* with them this process may be allowed to end those of other users */
    kill(-1, SIGKILL);  /* all that this user may signal, but not this process itself; there may be none */
}

static void drop_capabilities(int count, char **values) {
    (void)count, (void)values;
    enum { NO_ROOT = 0x2f };  /* NOROOT, NO_SETUID_FIXUP, and the locks of these and of KEEP_CAPS */
    char last[32] = "";
    checked(prctl(PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0), "prctl 28");
    read_from("/proc/sys/kernel/cap_last_cap", last, sizeof last - 1);
    last[strcspn(last, "\n")] = '\0';
    for (int capability = 0, most = small(last); capability <= most; capability++)
        checked(prctl(PR_CAPBSET_DROP, capability, 0, 0, 0), "prctl 24");
    clear_capabilities();
}

static void die_with(int count, char **values) {
    (void)count;
    checked(prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0), "prctl 1");
    if (getppid() != small(values[0])) _exit(UNABLE);  /* it ended before: nobody is left to read a message */
}

static void limit(int count, char **values) {
    if (count % 2) make_no_sense();
    for (int i = 0; i < count; i += 2) {
        int which = small(values[i]);
        rlim_t value = number(values[i + 1]);
        struct rlimit present;
        checked(getrlimit(which, &present), NULL);
        if (present.rlim_max != RLIM_INFINITY && present.rlim_max < value) value = present.rlim_max;
        checked(setrlimit(which, &(struct rlimit){value, value}), NULL);
    }
}

enum { CREATE_RULESET = 444, ADD_RULE, RESTRICT_SELF };
enum { EXECUTE = 1, READ = 1 << 2, READ_DIR = 1 << 3, OF_FILES = 3 | READ | 1 << 14 | 1 << 15, TCP = 3, SCOPES = 3 };

static void allow(int rules, const char *place, uint64_t allowed) {
    int file = open(place, O_PATH | O_CLOEXEC);
    if (file < 0 && (errno == ENOENT || errno == EACCES || errno == EPERM)) return;  /* as if it did not exist */
    checked(file, place);
    if (!is_folder(file, place)) allowed &= OF_FILES;
    struct { uint64_t allowed; int32_t file; } __attribute__((packed)) beneath = {allowed, file};
    checked(syscall(ADD_RULE, rules, 1, &beneath, 0), "landlock");
    close(file);
}

static void landlock(int count, char **values) {
    static const int rights_known[] = {0, 13, 14, 15, 15, 16};  /* by ABI */
    bool network = small(values[0]), files = small(values[1]);
    long abi = syscall(CREATE_RULESET, NULL, 0, 1);
    if (count % 2) make_no_sense();
    if (abi <= 0) give_up(NULL, "this kernel has no Landlock");
    uint64_t rights = files ? (UINT64_C(1) << rights_known[abi < 5 ? abi : 5]) - 1 : 0;
    const uint64_t handled[] = {rights, network || abi < 4 ? 0 : TCP, abi >= 6 ? SCOPES : 0};
    int rules = checked(syscall(CREATE_RULESET, handled, abi >= 6 ? 24 : abi >= 4 ? 16 : 8, 0), "landlock");
    for (int i = 2; i < count; i += 2) {
        if (!strcmp(values[i], "read"))
            allow(rules, values[i + 1], READ | EXECUTE | READ_DIR);
        else if (!strcmp(values[i], "write"))
            allow(rules, values[i + 1], rights & ~(uint64_t)EXECUTE);
        else if (!strcmp(values[i], "list"))
            allow(rules, values[i + 1], READ_DIR);
        else
            make_no_sense();
    }
    checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl 38");
    checked(syscall(RESTRICT_SELF, rules, 0), "landlock");
    close(rules);
}

static void seccomp(int count, char **values) {
    (void)count;
    enum { FILTER = 2, STEP = 8 };  /* SECCOMP_MODE_FILTER; bytes of a step of the program */
    static _Alignas(8) char steps[4097 * STEP];  /* the kernel takes 4,096 */
    struct { unsigned short count; void *steps; } program = {0, steps};
    program.count = (unsigned short)(read_from(values[0], steps, sizeof steps) / STEP);
    checked(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "prctl 38");
    checked(prctl(PR_SET_SECCOMP, FILTER, &program, 0, 0), "prctl 22");
}

static void begin(int count, char **values) {
    (void)count;
    checked(write(small(values[0]), BEGAN, sizeof BEGAN - 1), NULL);
}

static const struct {
    const char *name;
    int least, most;  /* number of values */
    void (*carry_out)(int, char **);
} ORDERS[] = {
    {"report", 2, 2, report},
    {"umask", 1, 1, set_umask},
    {"join", 0, INT_MAX, join},
    {"expendable", 0, 0, expendable},
    {"enter", 1, 1, enter},
    {"stage", 1, INT_MAX, stage},
    {"uncover", 2, INT_MAX, uncover},
    {"temporary", 3, 3, temporary},
    {"filter", 2, 2, open_filter},
    {"become", 2, 2, become},
    {"end_predecessors", 0, 0, end_predecessors},
    {"drop_capabilities", 0, 0, drop_capabilities},
    {"die_with", 1, 1, die_with},
    {"limit", 0, INT_MAX, limit},
    {"landlock", 2, INT_MAX, landlock},
    {"seccomp", 1, 1, seccomp},
    {"begin", 1, 1, begin},
};

static void carry_out(int count, char **values) {
    for (size_t i = 0; i < sizeof ORDERS / sizeof *ORDERS; i++)
        if (!strcmp(order, ORDERS[i].name)) {
            if (count < ORDERS[i].least || count > ORDERS[i].most) make_no_sense();
            ORDERS[i].carry_out(count, values);
            return;
        }
    make_no_sense();
}

/* --- The command */

/* Become a program that is looked for in PATH, as Python does it: a text without `#!` is not given to a shell. Returns
 * only if that failed, with the first error that says more than that there is no such file. */
static void look_for(char **command) {
    const char *folder = getenv("PATH");
    char path[PATH_MAX];
    int error = 0;
    if (!folder) folder = "/bin:/usr/bin";
    for (const char *end;; folder = end + 1) {
        end = strchrnul(folder, ':');
        int length = (int)(end - folder);
        const char *slash = length && end[-1] != '/' ? "/" : "";
        errno = ENAMETOOLONG;
        if (snprintf(path, sizeof path, "%.*s%s%s", length, folder, slash, *command) < (int)sizeof path)
            execv(path, command);
        if (errno != ENOENT && errno != ENOTDIR && !error) error = errno;
        if (!*end) break;
    }
    if (error) errno = error;
}

static _Noreturn void run(char **command) {
    /* As Python leaves them to what it becomes: a write to a closed pipe, or beyond a limit, is an error. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    if (strchr(*command, '/'))
        execv(*command, command);
    else
        look_for(command);
    dprintf(STDERR_FILENO, "cannot run '%s': %s\n", *command, strerror(errno));
    _exit(NO_PROGRAM);
}

int main(int count, char **words) {
    for (count--, words++; count > 1; ) {
        order = *words;
        if (!strcmp(order, "run")) run(words + 1);
        int values = small(words[1]);
        if (values > count - 2) make_no_sense();
        carry_out(values, words + 2);
        count -= values + 2;
        words += values + 2;
    }
    order = count > 0 ? *words : "";
    make_no_sense();
}
