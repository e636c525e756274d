/* SPDX-License-Identifier: Apache-2.0
 * The table of units of src/pool/units.c and its recovery in members.c: two members that take a run and give it back,
 * either of which may die before any store, a sweeper that may die as well, and another member that sweeps after it.
 * Every store to shared memory is a step of its own. Checked:
 *   apart       no unit is in two runs that were handed out
 *   whole       after every sweep, the heads cover the table exactly
 *   kept        a run that was handed out is there until it is given back; in a file (FILE=1) also after its owner died
 *   no leak     after the last sweep there is no other run, but, in a file, one whose owner died between the store that
 *               ends its intent and the return to the program
 *   no hang     whoever lives comes to its end
 * Not in the model: blocks of slabs and the caches of lanes (slab.pml), keys and names, growth, sums and hints. Memory is
 * sequentially consistent here.
 *
 * BREAK turns one step about, so that spin has something to find: 1: the head before the free run behind it; 2: the
 * sweeper does not look at the intent (of a file); 3: the intent after the head (of a file); 4: a lock whose holder died is never taken.
 *
 * spin -DFILE=0 -a pool.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -E -m100000
 */
#ifndef FILE
#define FILE 0
#endif
#ifndef BREAK
#define BREAK 0
#endif
#ifndef TURNS
#define TURNS 1 /* of the second member */
#endif
#define UNITS 4
#define NOBODY 0

#define FREE 1
#define RUN 2
#define INSIDE 3
typedef entry { byte kind, owner, length }; /* one word: changed in one step */
entry table[UNITS];
byte lock;      /* the holder's number + 1 */
byte intent[2]; /* unit + 1 */
bool dead[3], ended[3], swept[2], late[2], checked;
byte user[UNITS]; /* whose it is for the programs: what is proved about */

#define store(u, k, o, n) d_step { table[u].kind = k; table[u].owner = o; table[u].length = n }
#if BREAK == 4
#define may_take (lock == NOBODY)
#else
#define may_take (lock == NOBODY || dead[lock - 1])
#endif

/* shmemi_units_valid() */
inline check_whole() {
    d_step {
        u = 0;
        do
        :: u < UNITS ->
            assert((table[u].kind == FREE || table[u].kind == RUN) && table[u].length > 0 && u + table[u].length <= UNITS);
            u = u + table[u].length
        :: else -> break
        od;
        u = 0
    }
}

inline merge(at) {
    do
    :: at + table[at].length < UNITS && table[at + table[at].length].kind == FREE ->
        d_step { table[at].length = table[at].length + table[at + table[at].length].length }
    :: else -> break
    od
}

/* shmemi_members_sweep(), with the lock held. */
inline sweep() {
    d = 0;
    do
    :: d < 2 && dead[d] && !swept[d] ->
        if /* drop_stillborn() */
        :: intent[d] ->
            d_step {
                u = 0;
                do
                :: u < intent[d] - 1 && u + table[u].length <= UNITS -> u = u + table[u].length
                :: else -> break
                od
            }
            if
            :: u != intent[d] - 1 -> store(intent[d] - 1, INSIDE, NOBODY, 0)
            :: else
            fi
        :: else
        fi;
        u = 0;
        do
        :: u < UNITS ->
            if
            :: table[u].kind == RUN && table[u].owner == d + 1 ->
                if
                :: FILE && (BREAK == 2 || intent[d] != u + 1) -> store(u, RUN, NOBODY, table[u].length)
                :: else ->
                    atomic { /* the programs lose it with their process */
                        for (k : u .. u + table[u].length - 1) { assert(!FILE || user[k] == 0); user[k] = 0 }
                        table[u].kind = FREE; table[u].owner = NOBODY; k = 0
                    }
                    merge(u)
                fi
            :: else
            fi;
            assert(table[u].length > 0);
            u = u + table[u].length
        :: else -> break
        od;
        check_whole();
        intent[d] = 0;
        atomic { swept[d] = true; d++ }
    :: d < 2 && (!dead[d] || swept[d]) -> d++
    :: d == 2 -> break
    od;
    d = 0; u = 0
}

inline take_lock(me) {
    atomic { may_take -> was_dead = (lock != NOBODY); lock = me + 1 }
    if
    :: was_dead -> was_dead = false; sweep()
    :: else
    fi
}

/* shmemi_units_take() and shmemi_units_give(): `size` units at a multiple of `align`. */
proctype member(byte me, size, align, turns) provided (!dead[me])
{
    byte u, d, k, first, end, turn;
    bool was_dead;
    for (turn : 1 .. turns) {
        take_lock(me);
        u = 0;
        do
        :: u < UNITS && table[u].kind == FREE ->
            merge(u);
            first = ((u + align - 1) / align) * align;
            if
            :: first + size <= u + table[u].length -> break
            :: else -> u = u + table[u].length
            fi
        :: u < UNITS && table[u].kind != FREE -> assert(table[u].kind == RUN); u = u + table[u].length
        :: u == UNITS -> break
        od;
        if
        :: u < UNITS ->
            end = u + table[u].length;
#if BREAK == 1
            intent[me] = first + 1;
            store(first, RUN, me + 1, size);
#endif
            if
            :: first + size < end -> store(first + size, FREE, NOBODY, end - first - size)
            :: else
            fi;
#if BREAK != 1
            if
            :: size == 2 -> store(first + 1, INSIDE, NOBODY, 1)
            :: else
            fi;
#if BREAK != 3
            intent[me] = first + 1;
#endif
            store(first, RUN, me + 1, size);
#if BREAK == 3
            intent[me] = first + 1;
#endif
#endif
            if
            :: first > u -> store(u, FREE, NOBODY, first - u)
            :: else
            fi;
            atomic { intent[me] = 0; late[me] = true }
            lock = NOBODY;
            atomic { /* returns */
                late[me] = false;
                for (k : first .. first + size - 1) { assert(user[k] == 0); user[k] = me + 1 }
                k = 0
            }
            take_lock(me);
            assert(table[first].kind == RUN && table[first].owner == me + 1 && table[first].length == size);
            atomic {
                for (k : first .. first + size - 1) { assert(user[k] == me + 1); user[k] = 0 }
                k = 0; table[first].kind = FREE; table[first].owner = NOBODY
            }
            merge(first)
        :: else
        fi;
        lock = NOBODY; u = 0; first = 0; end = 0
    }
    atomic { turn = 0; size = 0; align = 0; turns = 0; ended[me] = true }
}

proctype sweeper() provided (!dead[2])
{
    byte u, d, k;
    bool was_dead;
    (dead[0] || dead[1] || (ended[0] && ended[1]));
    take_lock(2);
    sweep();
    lock = NOBODY;
    ended[2] = true
}

proctype last()
{
    byte u, d, k;
    bool was_dead;
    ((ended[0] || dead[0]) && (ended[1] || dead[1]) && (ended[2] || dead[2]));
    take_lock(3);
    sweep();
    check_whole();
    atomic {
        do
        :: u < UNITS ->
            for (k : u .. u + table[u].length - 1) {
                if
                :: table[u].kind == RUN -> assert(FILE && (user[k] || late[0] || late[1]))
                :: else -> assert(user[k] == 0)
                fi
            }
            u = u + table[u].length
        :: else -> break
        od;
        checked = true
    }
}

proctype death()
{
    if
    :: atomic { !ended[0] -> dead[0] = true }
    :: true
    fi;
    if
    :: atomic { !ended[1] -> dead[1] = true }
    :: true
    fi;
    if
    :: atomic { !ended[2] -> dead[2] = true }
    :: true
    fi
}

proctype monitor()
{
    timeout;
    assert(checked)
}

init
{
    atomic {
        store(0, FREE, NOBODY, UNITS);
        run member(0, 1, 2, 1);
        run member(1, 2, 1, TURNS);
        run sweeper();
        run last();
        run death();
        run monitor()
    }
}
