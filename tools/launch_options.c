// SPDX-License-Identifier: Apache-2.0
// shmemrun's command line: its own options, and those that people know from other launchers. Each does what it says, or
// is refused, or is said to have no meaning here; none is ignored in silence.
#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <shmemx.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "launch.h"

struct launch_options options;
static const char *rank_by; /* means something beside --map-by only */

void launch_usage_error(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("shmemrun: ", stderr);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\nshmemrun: try 'shmemrun --help'\n", stderr);
    exit(STATUS_USAGE);
}

long launch_number(const char *option, const char *text, long low, long high)
{
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < low || value > high)
        launch_usage_error("%s is '%s', but must be an integer from %ld to %ld", option, text, low, high);
    return value;
}

static void help(void)
{
    puts(
        "usage: shmemrun [-n PES] [options] program [arguments] [: [-n PES] program [arguments]]...\n"
        "Starts PES processes of the program on this host as one job. oshrun is the same command.\n"
        "\n"
        "  -n, -np, -c PES     how many (default 1, or the slots of the hosts that are named,\n"
        "                      or what --npernode or --map-by ppr:N:... says)\n"
        "  -x NAME[=VALUE]     set a variable for all PEs (without a value: as it is here)\n"
        "  --bind-to WHAT      PE k to the k-th such part of the CPUs that are allowed here, in turn: 'hwthread',\n"
        "                      'core', 'l3cache', 'numa', 'socket'; or 'none' (default)\n"
        "  --map-by WHAT       'socket', 'numa', 'l3cache': PE k to the k-th such part, in turn, and bound to it, or\n"
        "                      there as --bind-to says. With ':PE=N', such as 'slot:PE=2', N cores for each PE;\n"
        "                      'ppr:N:socket' fills each part with N PEs before the next; also of a core\n"
        "  --report-bindings   say on which CPUs each PE may run; also --display-map, --display map or bind\n"
        "  --tag-output        begin each line of output with [PE]; also -l, --label, --prepend-rank\n"
        "  --merge-stderr-to-stdout   the standard error of PEs goes where their standard output goes\n"
        "  --timeout SECONDS   end the job after that time, with exit status 124\n"
        "  --wdir FOLDER       run the program there; also --chdir\n"
        "  --stdin WHO         '0' (default): PE 0 has the standard input; 'none': nobody\n"
        "  --quiet, -q         say nothing about PEs that fail; the exit status tells\n"
        "  --host A[:N],...    hosts, with slots; also -H. Only names of this host are possible. More PEs than\n"
        "                      slots need --oversubscribe\n"
        "  --hostfile FILE     the same from a file, a host a line, 'name slots=N'; also --machinefile, -f\n"
        "  --oversubscribe     allow more PEs than the hosts that are named have slots; where none is named, more\n"
        "                      PEs than CPUs are always allowed\n"
        "  --nooversubscribe   refuse more PEs than CPUs\n"
        "  --help, --version\n"
        "\n"
        "PEs of several programs, separated by ':', are numbered in the order of the programs. Ctrl-C ends every PE.\n"
        "When one PE fails, the others are ended and the exit status is that of the first that failed (128 + the\n"
        "signal's number for a signal).\n"
        "\n"
        "Accepted from other launchers: --map-by slot, core, hwthread, node (PEs are placed in turn on one host\n"
        "anyway), --rank-by (the same as --map-by), --cpus-per-proc N, --map-by ppr:N:node, -N, --npernode N, "
        "--pernode\n"
        "(refused when N is too few), --npersocket N, --bynode, --byslot, --bycore, --bysocket, --bind-to-core,\n"
        "--bind-to-socket, --bind-to-none, -env and -genv NAME VALUE. Always so: --allow-run-as-root,\n"
        "--use-hwthread-cpus, -envall, -genvall, -envlist and -genvlist NAMES. Without a meaning here, which is said:\n"
        "--mca, --gmca, --prtemca and --pmixmca NAME VALUE; --prefix, --tmpdir, --tune, --am, --personality,\n"
        "--report-uri, --launcher, --bootstrap, --iface and --rmk WHAT; --display-allocation, --verbose, "
        "--debug-daemons,\n"
        "--leave-session-attached, --show-progress, --get-stack-traces, --nolocal, --novm, --preload-binary,\n"
        "--print-all-exitcodes, --enable-recovery, --disable-recovery.");
}

/* --- variables -------------------------------------------------------------------------------------------------- */

static void set_variable(const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == text || !*text)
        launch_usage_error("-x '%s' names no variable", text);
    if (!equals) {
        if (!getenv(text) && !options.quiet)
            fprintf(stderr, "shmemrun: -x %s: the variable is not set here, nor will it be there\n", text);
        return; /* the environment is passed on anyway */
    }
    char *name = strndup(text, (size_t)(equals - text));
    if (!name || setenv(name, equals + 1, 1) < 0)
        launch_usage_error("-x '%s': %s", text, strerror(errno));
    free(name);
}

/* The second word of an option that takes two. */
static const char *second(const char *option, char **argv)
{
    const char *word = argv[optind];
    if (!word)
        launch_usage_error("%s needs two words, a name and a value", option);
    optind++;
    return word;
}

/* --- where PEs go ----------------------------------------------------------------------------------------------- */

static void per_host(const char *option, const char *text)
{
    options.per_host = (int)launch_number(option, text, 1, PES_MOST);
}

static void read_stdin(const char *who)
{
    if (strcmp(who, "none") && strcmp(who, "0"))
        launch_usage_error("--stdin is '%s', but must be '0' or 'none'", who);
    options.no_input = !strcmp(who, "none");
}

/* name, value: "" where the option has none. */
static void no_meaning(const char *option, const char *name, const char *value)
{
    if (!options.quiet)
        fprintf(stderr, "shmemrun: %s%s%s%s%s has no meaning here\n", option, *name ? " " : "", name, *value ? " " : "",
                value);
}

/* --display WHAT[,WHAT]... */
static void display(const char *option, const char *list)
{
    char *copy = strdup(list), *rest = copy;
    for (char *one; copy && (one = strsep(&rest, ","));)
        if (!strcmp(one, "map") || !strcmp(one, "map-devel") || !strcmp(one, "bind"))
            options.report_bindings = true;
        else
            no_meaning(option, one, "");
    free(copy);
}

/* The older spelling, in one word: --bind-to-core, --bysocket. */
static void in_one_word(const char *option)
{
    option += strspn(option, "-");
    if (!strncmp(option, "bind-to-", 8))
        launch_bind_to(option + 8);
    else
        launch_map_by(option + 2);
}

static void per_socket(const char *option, const char *text)
{
    char how[64];
    snprintf(how, sizeof how, "ppr:%ld:socket", launch_number(option, text, 1, PES_MOST));
    launch_map_by(how);
}

/* --- one program ------------------------------------------------------------------------------------------------ */

static double seconds(const char *text)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end || !(value > 0 && value < 1e9))
        launch_usage_error("--timeout is '%s', but must be a number of seconds", text);
    return value;
}

static const char *folder(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        launch_usage_error("--wdir '%s': %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        launch_usage_error("--wdir '%s' is no folder", path);
    return path;
}

enum {
    BIND = 256,
    TAG,
    TIMEOUT,
    HELP,
    VERSION,
    CROWD,
    NO_CROWD,
    MAP_BY,
    RANK_BY,
    HOST,
    HOSTFILE,
    WDIR,
    STDIN_OF,
    ENV,
    ALWAYS,
    MCA,
    REPORT,
    PER_HOST,
    ONE_A_HOST,
    PER_SOCKET,
    WIDTH,
    DISPLAY,
    MERGE,
    ONE_WORD,
    NO_MEANING,    /* without an argument */
    NO_MEANING_OF, /* with one */
    ALWAYS_OF
};

static const struct option longs[] = {
    {"np", required_argument, NULL, 'n'},
    {"n", required_argument, NULL, 'n'},
    {"bind-to", required_argument, NULL, BIND},
    {"report-bindings", no_argument, NULL, REPORT},
    {"tag-output", no_argument, NULL, TAG},
    {"label", no_argument, NULL, TAG},
    {"timeout", required_argument, NULL, TIMEOUT},
    {"oversubscribe", no_argument, NULL, CROWD},
    {"nooversubscribe", no_argument, NULL, NO_CROWD},
    {"no-oversubscribe", no_argument, NULL, NO_CROWD},
    {"map-by", required_argument, NULL, MAP_BY},
    {"rank-by", required_argument, NULL, RANK_BY},
    {"cpus-per-proc", required_argument, NULL, WIDTH},
    {"cpus-per-rank", required_argument, NULL, WIDTH},
    {"host", required_argument, NULL, HOST},
    {"hosts", required_argument, NULL, HOST},
    {"hostfile", required_argument, NULL, HOSTFILE},
    {"machinefile", required_argument, NULL, HOSTFILE},
    {"wdir", required_argument, NULL, WDIR},
    {"wd", required_argument, NULL, WDIR},
    {"chdir", required_argument, NULL, WDIR},
    {"stdin", required_argument, NULL, STDIN_OF},
    {"quiet", no_argument, NULL, 'q'},
    {"env", required_argument, NULL, ENV},
    {"genv", required_argument, NULL, ENV},
    {"envall", no_argument, NULL, ALWAYS},
    {"genvall", no_argument, NULL, ALWAYS},
    {"allow-run-as-root", no_argument, NULL, ALWAYS},
    {"use-hwthread-cpus", no_argument, NULL, ALWAYS},
    {"mca", required_argument, NULL, MCA},
    {"gmca", required_argument, NULL, MCA},
    {"npernode", required_argument, NULL, PER_HOST},
    {"ppn", required_argument, NULL, PER_HOST},
    {"perhost", required_argument, NULL, PER_HOST},
    {"pernode", no_argument, NULL, ONE_A_HOST},
    {"npersocket", required_argument, NULL, PER_SOCKET},
    {"prepend-rank", no_argument, NULL, TAG},
    {"merge-stderr-to-stdout", no_argument, NULL, MERGE},
    {"display-map", no_argument, NULL, REPORT},
    {"display-devel-map", no_argument, NULL, REPORT},
    {"display", required_argument, NULL, DISPLAY},
    {"bynode", no_argument, NULL, ONE_WORD},
    {"byslot", no_argument, NULL, ONE_WORD},
    {"bycore", no_argument, NULL, ONE_WORD},
    {"bysocket", no_argument, NULL, ONE_WORD},
    {"bind-to-core", no_argument, NULL, ONE_WORD},
    {"bind-to-socket", no_argument, NULL, ONE_WORD},
    {"bind-to-none", no_argument, NULL, ONE_WORD},
    {"envlist", required_argument, NULL, ALWAYS_OF},
    {"genvlist", required_argument, NULL, ALWAYS_OF},
    {"prtemca", required_argument, NULL, MCA},
    {"pmixmca", required_argument, NULL, MCA},
    {"prefix", required_argument, NULL, NO_MEANING_OF},
    {"tmpdir", required_argument, NULL, NO_MEANING_OF},
    {"tune", required_argument, NULL, NO_MEANING_OF},
    {"am", required_argument, NULL, NO_MEANING_OF},
    {"personality", required_argument, NULL, NO_MEANING_OF},
    {"report-uri", required_argument, NULL, NO_MEANING_OF},
    {"launcher", required_argument, NULL, NO_MEANING_OF},
    {"bootstrap", required_argument, NULL, NO_MEANING_OF},
    {"iface", required_argument, NULL, NO_MEANING_OF},
    {"rmk", required_argument, NULL, NO_MEANING_OF},
    {"display-allocation", no_argument, NULL, NO_MEANING},
    {"verbose", no_argument, NULL, NO_MEANING},
    {"debug-daemons", no_argument, NULL, NO_MEANING},
    {"leave-session-attached", no_argument, NULL, NO_MEANING},
    {"show-progress", no_argument, NULL, NO_MEANING},
    {"get-stack-traces", no_argument, NULL, NO_MEANING},
    {"nolocal", no_argument, NULL, NO_MEANING},
    {"novm", no_argument, NULL, NO_MEANING},
    {"preload-binary", no_argument, NULL, NO_MEANING},
    {"print-all-exitcodes", no_argument, NULL, NO_MEANING},
    {"enable-recovery", no_argument, NULL, NO_MEANING},
    {"disable-recovery", no_argument, NULL, NO_MEANING},
    {"help", no_argument, NULL, HELP},
    {"version", no_argument, NULL, VERSION},
    {0},
};

static void take(int option, const char *word, char **argv, struct program *program)
{
    switch (option) {
    case 'n':
    case 'c':
        program->n = (int)launch_number("-n", optarg, 1, PES_MOST);
        break;
    case 'x':
        set_variable(optarg);
        break;
    case ENV: {
        const char *name = optarg, *value = second(word, argv);
        if (!*name || strchr(name, '=') || setenv(name, value, 1) < 0)
            launch_usage_error("%s '%s' names no variable", word, name);
        break;
    }
    case BIND:
        launch_bind_to(optarg);
        break;
    case REPORT:
        options.report_bindings = true;
        break;
    case 'l':
    case TAG:
        options.tag = true;
        break;
    case 'q':
        options.quiet = true;
        break;
    case TIMEOUT:
        options.timeout = seconds(optarg);
        break;
    case CROWD:
    case NO_CROWD:
        options.crowd = option == CROWD;
        options.no_crowd = option == NO_CROWD;
        break;
    case MAP_BY:
        launch_map_by(optarg);
        break;
    case RANK_BY:
        rank_by = optarg;
        break;
    case WIDTH:
        options.binding.width = (int)launch_number(word, optarg, 1, CPU_SETSIZE);
        break;
    case 'N':
    case PER_HOST:
        per_host(word, optarg);
        break;
    case 'H':
    case HOST:
        launch_read_hosts(word, optarg);
        break;
    case 'f':
    case HOSTFILE:
        launch_read_hostfile(word, optarg);
        break;
    case WDIR:
        program->folder = folder(optarg);
        break;
    case STDIN_OF:
        read_stdin(optarg);
        break;
    case MCA:
        no_meaning(word, optarg, second(word, argv));
        break;
    case NO_MEANING_OF:
        no_meaning(word, optarg, "");
        break;
    case 'v':
    case NO_MEANING:
        no_meaning(word, "", "");
        break;
    case DISPLAY:
        display(word, optarg);
        break;
    case MERGE:
        options.merge = true;
        break;
    case ONE_WORD:
        in_one_word(word);
        break;
    case ONE_A_HOST:
        options.per_host = 1;
        break;
    case PER_SOCKET:
        per_socket(word, optarg);
        break;
    case ALWAYS:
    case ALWAYS_OF:
        break; /* what it asks for is always so here */
    case 'h':
    case HELP:
        help();
        exit(0);
    case 'V':
    case VERSION:
        printf("shmemrun of %s\n", shmemx_version());
        exit(0);
    default:
        launch_usage_error("the command line is not understood");
    }
}

/* argv: "shmemrun" and the words of one program. */
static void read_program(int argc, char **argv, struct program *program)
{
    int option;
    optind = 0; /* begin anew, the options of the C library too */
    while ((option = getopt_long_only(argc, argv, "+n:c:x:hqlvVH:f:N:", longs, NULL)) != -1)
        take(option, optind > 1 ? argv[optind - 1] == optarg && optind > 2 ? argv[optind - 2] : argv[optind - 1] : "",
             argv, program);
    program->command = argv + optind;
    if (!*program->command)
        launch_usage_error("no program is given");
}

/* --- all of them ------------------------------------------------------------------------------------------------ */

static int cpus(void)
{
    cpu_set_t allowed;
    return sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? CPU_COUNT(&allowed) : PES_MOST;
}

static void count(void)
{
    struct program *only = options.program_count == 1 ? &options.programs[0] : NULL;
    if (only && only->n == 0 && launch_places())
        only->n = launch_places() < PES_MOST ? launch_places() : PES_MOST;
    else if (only && only->n == 0 && (options.slots || options.per_host))
        only->n = options.per_host ? options.per_host : options.slots;
    for (int i = 0; i < options.program_count; i++) {
        options.programs[i].n += options.programs[i].n == 0;
        options.n += options.programs[i].n;
    }
    if (options.n > PES_MOST)
        launch_usage_error("the programs have %d PEs together, but at most %d are possible", options.n, PES_MOST);
    bool as_many = options.per_host && options.n <= options.per_host && !options.slots_said; /* -H localhost -N 4 */
    if (options.slots && options.n > options.slots && !options.crowd && !as_many)
        launch_usage_error("%d PEs are asked for, but the hosts have %d slots: add --oversubscribe, or slots",
                           options.n, options.slots);
    if (options.per_host && options.n > options.per_host)
        launch_usage_error("%d PEs are asked for, but at most %d on a host: this build starts jobs on one host",
                           options.n, options.per_host);
    if (options.no_crowd && options.n > cpus())
        launch_usage_error("%d PEs are asked for, but there are %d CPUs (--nooversubscribe)", options.n, cpus());
}

void launch_read_options(int argc, char **argv)
{
    for (int first = 1;;) {
        int last = first;
        while (last < argc && strcmp(argv[last], ":"))
            last++;
        if (options.program_count == PROGRAMS_MOST)
            launch_usage_error("at most %d programs are possible", PROGRAMS_MOST);
        char **words = calloc((size_t)(last - first) + 2, sizeof *words);
        if (!words)
            launch_usage_error("no memory");
        words[0] = argv[0];
        memcpy(words + 1, argv + first, (size_t)(last - first) * sizeof *words);
        read_program(last - first + 1, words, &options.programs[options.program_count++]);
        if (last >= argc)
            break;
        first = last + 1;
    }
    count();
    if (rank_by)
        launch_rank_by(rank_by);
    launch_settle_binding(options.n);
}
