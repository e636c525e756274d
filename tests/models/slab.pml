/* SPDX-License-Identifier: Apache-2.0
 * The small blocks of src/pool/blocks.c, and what becomes of them in members.c: the owner of a slab, who takes blocks
 * into its cache, hands them out, gives them back and drops the empty slab; another member, who frees a block that it was
 * handed, and then adopts the slab or makes a new one and allocates itself. Either may die before any store, and so may a
 * sweeper; another one sweeps after it. Every look and every change of shared memory is a step of its own. Checked:
 *   apart       no block is handed out twice, or put into a cache, while somebody has it
 *   kept        what a living member has, and what was kept (in a file, FILE=1, also what was only allocated), is there
 *               until it is freed, whoever dies
 *   no leak     after the last sweep every other block is free, or in the cache of a living member, but for one whose
 *               owner died between the store that ends its intent and the return to the program, or in the call that was to
 *               free it
 *   no hang     whoever lives comes to its end
 * Not in the model: counts (a wrong one costs only a look), the table of units (pool.pml), keys and names, many lanes:
 * they are private, under locks of the process. Memory is sequentially consistent here.
 *
 * BREAK turns one step about, so that spin has something to find: 1: the intent is not written; 2: the sweeper does not
 * look at it; 3: the sweeper stores without an exchange; 4: a freed block of another's slab is put into a cache. *
 * spin -DFILE=0 -a slab.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -E -m100000
 */
#ifndef FILE
#define FILE 0
#endif
#ifndef BREAK
#define BREAK 0
#endif
#ifndef BLOCKS
#define BLOCKS 2
#endif
#define NOBODY 0
#define FREE_RUN 3 /* as owner: there is no slab */

/* bytes of blocks */
#define FREE 0
#define CACHED 1
#define USED 2
#define KEPT 3

byte block[BLOCKS];
byte owner = 1; /* of the slab, its number + 1 */
byte lock;
byte intent[2]; /* block + 1 */
bool dead[3], ended[3], swept[2], checked;
byte mail;         /* block + 1: what the first member hands to the second */
byte user[BLOCKS]; /* whose it is for the programs: what is proved about */
byte late[2];      /* block + 1: nearly handed out; or not given back yet */

#define may_take (lock == NOBODY || dead[lock - 1])
#define lives(who) (who != 0 && who < 3 && !dead[who - 1])

/* shmemi_blocks_alloc(): `as` it is to be. The one in the cache is mine, and nobody else changes it. */
inline hand_out(me, b, as) {
    if
    :: as != USED || FILE ->
#if BREAK != 1
        intent[me] = b + 1;
#endif
        block[b] = as;
        atomic { intent[me] = 0; late[me] = b + 1 }
    :: else -> atomic { block[b] = as; late[me] = b + 1 }
    fi;
    atomic { late[me] = 0; assert(user[b] == 0); user[b] = me + 1 }
}

/* take_from(): what is free goes into the cache, for the owner only. */
inline fill_cache(me) {
    do
    :: atomic { i < BLOCKS ->
            if
            :: block[i] == FREE -> assert(user[i] == 0); block[i] = CACHED; cache[i] = 1
            :: else
            fi;
            i++
        }
    :: atomic { i == BLOCKS -> i = 0; break }
    od
}

/* shmemi_blocks_free(): the owner is looked at first, and then the byte exchanged. */
inline give_back(me, b) {
    ours = (owner == me + 1);
    atomic {
        assert(block[b] == USED || block[b] == KEPT);
        block[b] = ((ours || BREAK == 4) -> CACHED : FREE);
        late[me] = 0; cache[b] = ours; ours = false
    }
}

/* shmemi_blocks_trim(): the cache, and then the slab if all of it is free. */
inline trim(me) {
    do
    :: atomic { i < BLOCKS && cache[i] -> cache[i] = 0; block[i] = FREE; i++ }
    :: atomic { i < BLOCKS && !cache[i] -> i++ }
    :: atomic { i == BLOCKS -> i = 0; break }
    od;
    do
    :: atomic { i < BLOCKS && block[i] == FREE -> i++ }
    :: atomic { i < BLOCKS && block[i] != FREE -> i = 0; break }
    :: atomic { i == BLOCKS -> i = 0 }
        take_lock(me);
        atomic {
            if
            :: owner == me + 1 ->
                owner = FREE_RUN;
                for (k : 0 .. BLOCKS - 1) { assert(user[k] == 0) }
                k = 0
            :: else
            fi
        }
        lock = NOBODY;
        break
    od
}

/* block_after(), of a block of a dead member's slab. */
#define intended(d, b) (BREAK != 2 && intent[d] == b + 1)
#define after(d, b, byte_) ((byte_ == KEPT && !intended(d, b)) || (byte_ == USED && FILE && !intended(d, b)) -> KEPT : FREE)

/* return_slab(), with the lock held. */
inline sweep() {
    d = 0;
    do
    :: d < 2 && dead[d] && !swept[d] ->
        if
        :: owner == d + 1 ->
            do
            :: k < BLOCKS ->
                seen = block[k];
                atomic {
                    if
                    :: block[k] == seen || BREAK == 3 ->
                        block[k] = after(d, k, seen);
                        if /* the programs lose it with their process, and no living one has it */
                        :: block[k] == FREE -> assert(!lives(user[k])); assert(!FILE || user[k] == 0); user[k] = 0
                        :: else -> left = 1
                        fi;
                        k++
                    :: else
                    fi;
                    seen = 0
                }
            :: atomic { k == BLOCKS -> owner = (left -> NOBODY : FREE_RUN); k = 0; left = 0; break }
            od
        :: else
        fi;
        atomic { intent[d] = 0; swept[d] = true; d++ }
    :: atomic { d < 2 && (!dead[d] || swept[d]) -> d++ }
    :: atomic { d == 2 -> d = 0; break }
    od
}

inline take_lock(me) {
    atomic { may_take -> was_dead = (lock != NOBODY); lock = me + 1 }
    if
    :: was_dead -> was_dead = false; sweep()
    :: else
    fi
}

/* get_slab(): adopts one that nobody owns, where something is free in it, or makes a new one. */
inline get_slab(me) {
    take_lock(me);
    sweep(); /* as make_room() does, when there is no other way */
    if
    :: owner == NOBODY ->
        do
        :: atomic { i < BLOCKS && block[i] != FREE -> i++ }
        :: atomic { i < BLOCKS && block[i] == FREE -> owner = me + 1; i = 0; break }
        :: atomic { i == BLOCKS -> i = 0; break }
        od
    :: owner == FREE_RUN ->
        do
        :: atomic { i < BLOCKS -> block[i] = FREE; i++ }
        :: atomic { i == BLOCKS -> owner = me + 1; i = 0; break }
        od
    :: else
    fi;
    lock = NOBODY
}

#define LOCALS byte d, k, i, left, seen, b; bool was_dead, ours; byte cache[BLOCKS]

proctype first() provided (!dead[0])
{
    LOCALS;
    fill_cache(0);
    cache[0] = 0;
    hand_out(0, 0, KEPT);
    atomic { mail = 1; user[0] = 2 } /* from here on it is the other one's to free */
    cache[1] = 0;
    hand_out(0, 1, USED);
    atomic { assert(block[1] == USED && user[1] == 1); user[1] = 0; late[0] = 2 }
    give_back(0, 1);
    trim(0);
    atomic { b = 0; ended[0] = true }
}

proctype second() provided (!dead[1])
{
    LOCALS;
    if
    :: atomic { mail -> b = mail - 1; mail = 0 }
        atomic { assert(block[b] == KEPT && user[b] == 2); user[b] = 0; late[1] = b + 1 }
        give_back(1, b)
    :: ended[0] || dead[0]
    fi;
    get_slab(1);
    if
    :: owner == 2 ->
        fill_cache(1);
        atomic {
            b = 0;
            do
            :: b < BLOCKS && !cache[b] -> b++
            :: else -> break
            od
        }
        if
        :: b < BLOCKS ->
            cache[b] = 0;
            hand_out(1, b, USED);
            atomic { assert(block[b] == USED && user[b] == 2); user[b] = 0; late[1] = b + 1 }
            give_back(1, b)
        :: else
        fi
    :: else
    fi;
    trim(1);
    atomic { b = 0; ended[1] = true }
}

proctype sweeper() provided (!dead[2])
{
    LOCALS;
    (dead[0] || dead[1] || (ended[0] && ended[1]));
    take_lock(2);
    sweep();
    lock = NOBODY;
    ended[2] = true
}

proctype last()
{
    LOCALS;
    ((ended[0] || dead[0]) && (ended[1] || dead[1]) && (ended[2] || dead[2]));
    take_lock(3);
    sweep();
    atomic {
        for (k : 0 .. BLOCKS - 1) {
            if
            :: owner == FREE_RUN -> assert(user[k] == 0)
            :: owner != FREE_RUN && block[k] == CACHED -> assert(lives(owner) && user[k] == 0)
            :: owner != FREE_RUN && (block[k] == USED || block[k] == KEPT) ->
                assert(user[k] || late[0] == k + 1 || late[1] == k + 1)
            :: owner != FREE_RUN && block[k] == FREE -> assert(user[k] == 0)
            fi
        }
        assert(owner == FREE_RUN || owner == NOBODY || lives(owner));
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
        run first();
        run second();
        run sweeper();
        run last();
        run death();
        run monitor()
    }
}
