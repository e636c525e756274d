/* SPDX-License-Identifier: Apache-2.0
 * The queue of src/queue: two producers that reserve, fill and commit runs of slots, either of which may die at any
 * step, and two consumers, the first of which may die at any step. Checked: every run that was committed is taken once
 * and entirely, each producer's in order, nothing else is taken, and whoever lives comes to its end. Memory is sequentially consistent here; the order of accesses is that of push.c and
 * pop.c.
 *
 * spin -a queue.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -E -m100000
 */
#define PRODUCERS 2
#define RUNS_OF(p) (2 - (p)) /* so that slots are used again */
#define SLOTS 2 /* a power of two */
#define CAPACITY 2

byte tail, head, left;                  /* head and left are one word */
byte word_at[SLOTS], word_slots[SLOTS]; /* one word, too; 0 slots: none was ever written */
byte intent_at[PRODUCERS], intent_slots[PRODUCERS]; /* likewise */
byte item[SLOTS];
bool dead[PRODUCERS], ended[PRODUCERS];
bool first_dead, over, checked;
byte committed[PRODUCERS], taken[PRODUCERS]; /* items: what is proved about */

#define slot(position) ((position) % SLOTS)
#define is_committed(position) (word_slots[slot(position)] > 0 && word_at[slot(position)] == (position))
#define covers(p, position) (intent_slots[p] > 0 && intent_at[p] <= (position) && (position) < intent_at[p] + intent_slots[p])

/* An item says who made it and which one it is, from 1. */
#define made(p, number) ((p) * 16 + (number))

proctype producer(byte me) provided (!dead[me])
{
    byte turn, size, at, seen, number;
    for (turn : 1 .. RUNS_OF(me)) {
        size = (me + turn) % 2 + 1; /* runs of one and of two */
retry:
        at = tail;
        seen = head;
        if
        :: CAPACITY - (at - seen) < size ->
            atomic { intent_at[me] = 0; intent_slots[me] = 0 }
            (head != seen || tail != at); /* sleeps */
            goto retry
        :: else
        fi;
        atomic { intent_at[me] = at; intent_slots[me] = size }
        if
        :: atomic { tail == at -> tail = at + size }
        :: atomic { tail != at -> goto retry }
        fi;
        atomic { /* nobody looks at them yet */
            item[slot(at)] = made(me, number + 1);
            if
            :: size == 2 -> item[slot(at + 1)] = made(me, number + 2)
            :: else
            fi
        }
        atomic { word_at[slot(at)] = at; word_slots[slot(at)] = size; committed[me] = committed[me] + size; number = number + size }
        atomic { intent_at[me] = 0; intent_slots[me] = 0 }
    }
    ended[me] = true
}

/* Takes what there is, `most` items at a time. */
inline consume(most)
{
    do
    :: atomic { at = head; rest = left; got = 0 } /* with the consumer's place */
       do
       :: rest == 0 && is_committed(at) -> rest = word_slots[slot(at)]
       :: atomic { rest > 0 && got < most -> /* nobody changes them yet */
            p = item[slot(at)] / 16;
            number = item[slot(at)] % 16;
            if
            :: got == 0 -> first = number; whose = p
            :: else ->
                if
                :: p != whose -> break /* the model takes of one producer at a time, to count with few variables */
                :: else
                fi
            fi;
            at++; rest--; got++ }
       :: rest > 0 && got == most -> break
       :: rest == 0 && got > 0 && !is_committed(at) -> break
       :: rest == 0 && got == 0 && !is_committed(at) ->
            if
            :: tail == at -> /* nothing there: what was passed over is free, and it sleeps */
                atomic { head = at; left = 0 }
                (tail != at || ((ended[0] || dead[0]) && (ended[1] || dead[1])));
                if
                :: tail == at -> over = true; goto finished
                :: else
                fi
            :: else -> /* somebody has reserved it: who, and is it alive? */
                p = 0;
                do
                :: p == PRODUCERS -> break
                :: p < PRODUCERS && covers(p, at) ->
                    if
                    :: !dead[p] ->
                        atomic { head = at; left = 0 }
                        (dead[p] || !covers(p, at) || is_committed(at)); p = 0; break
                    :: dead[p] -> p++
                    fi
                :: p < PRODUCERS && !covers(p, at) -> p++
                od;
                if
                :: p == PRODUCERS ->
                    if
                    :: is_committed(at) /* looked at after the holders */
                    :: else -> at++ /* passed over */
                    fi
                :: else
                fi
            fi
       od;
       atomic { /* the head moves: the items are taken */
            head = at;
            left = rest;
            if
            :: got > 0 ->
                assert(first == taken[whose] + 1);
                taken[whose] = taken[whose] + got;
                assert(taken[whose] <= committed[whose])
            :: else
            fi;
            p = 0; number = 0; first = 0; whose = 0
       }
    od;
finished:
    skip
}

proctype first_consumer() provided (!first_dead)
{
    byte at, rest, got, p, number, first, whose;
    consume(1)
}

proctype second_consumer()
{
    byte at, rest, got, p, number, first, whose;
    (first_dead || over);
    if
    :: over
    :: else -> consume(2)
    fi;
    assert(head == tail && left == 0);
    assert(taken[0] == committed[0] && taken[1] == committed[1]);
    checked = true
}

/* When nobody can go on, everybody who lives is at the end. (The dead stay where they were: pan is run with -E.) */
proctype monitor()
{
    timeout;
    assert(checked && (ended[0] || dead[0]) && (ended[1] || dead[1]))
}

/* One of the producers, and the first consumer. */
proctype death()
{
    if
    :: atomic { !ended[0] -> dead[0] = true }
    :: atomic { !ended[1] -> dead[1] = true }
    :: true
    fi;
    if
    :: atomic { !over -> first_dead = true }
    :: true
    fi
}

init
{
    atomic {
        run producer(0);
        run producer(1);
        run first_consumer();
        run second_consumer();
        run death();
        run monitor()
    }
}
