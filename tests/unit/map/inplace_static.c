// SPDX-License-Identifier: Apache-2.0
// Static data that moved before main: still the same data, shared, and private in a forked child. The
// program's own data are the ones that move, those of the test library and, in a static link, of libc among
// them.
#include "inplace_help.h"

#include <pthread.h>
#include <sys/wait.h>

extern char __data_start[], _end[]; /* set by the linker: the beginning of .data, the end of .bss */

static int initialised = 42;
static char zeroed[100000];
static char text[] = "a string in .data";
static _Thread_local int per_thread = 7;
static struct shmemi_inplace_static statics;
static int move_rc = 1;

__attribute__((constructor(101))) static void move(void)
{
    struct shmemi_inplace_static result = {0};
    int rc = shmemi_inplace_move_static((uintptr_t)__data_start, (uintptr_t)_end, &result);
    statics = result; /* this variable moved too */
    move_rc = rc;
}

static struct shmemi_inplace *with_statics(void)
{
    return engine_with((struct shmemi_inplace_config){.statics = &statics});
}

static char *view;

static void static_data_keeps_its_values_and_a_peer_shares_it(void **state)
{
    (void)state;
    if (move_rc != 0)
        fail_msg("%d: %s", move_rc, shmemi_last_error());
    assert_int_equal(initialised, 42);
    assert_string_equal(text, "a string in .data");
    all_bytes(zeroed, sizeof zeroed, 0);
    assert_int_equal(per_thread, 7);
    size_t length = statics.high - statics.low;
    view = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, statics.file, (off_t)statics.low);
    assert_ptr_not_equal(view, MAP_FAILED);
    int *peers = (int *)(void *)(view + ((uintptr_t)&initialised - statics.low));
    initialised = 43;
    assert_int_equal(*peers, 43);
    *peers = 44;
    assert_int_equal(*(volatile int *)&initialised, 44);
    munmap(view, length);
}

static void a_child_gets_static_data_of_its_own(void **state)
{
    (void)state;
    struct shmemi_inplace *engine = with_statics();
    static volatile int counter = 5;
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();
        if (child == 0) {
            if (counter != 5 || zeroed[5000] != 0 || strcmp(text, "a string in .data") != 0)
                _exit(1);
            counter = 6;
            memset(zeroed, 1, sizeof zeroed);
            char *some = malloc(100);
            FILE *null = fopen("/dev/null", "w");
            fprintf(null, "%d %p\n", counter, (void *)some);
            fclose(null);
            free(some);
            _exit(0);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
        assert_int_equal(counter, 5);
    }
    all_bytes(zeroed, sizeof zeroed, 0);
    struct region region = put_in(engine, zeroed + 10, 1000); /* moved already */
    zeroed[500] = 3;
    struct view peer = look_at(engine, region);
    assert_int_equal(*(char *)through(peer, zeroed + 500), 3);
    look_away(peer);
    take_out(engine, region, true);
    zeroed[500] = 0;
    shmemi_inplace_destroy(engine);
    all_bytes(zeroed, sizeof zeroed, 0);
    assert_int_equal(initialised, 44);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_data_keeps_its_values_and_a_peer_shares_it),
        cmocka_unit_test(a_child_gets_static_data_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
