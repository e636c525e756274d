/* SPDX-License-Identifier: Apache-2.0
   The mutex of src/sync/mutex.c, step by step as its code does them, with futexes as the kernel does them. Any process can
   die between any two steps, DEATHS times in all.

   exclusion    nobody is in the section together with another living process
   told         whoever gets the mutex after its holder died is told so
   no hang      every process that does not die comes to its end (no invalid end state). With DEATHS 0 that holds without
                naps: no wake-up is lost. With deaths a wake may be lost with whoever was woken; then the nap, modelled as
                a timeout (when nothing else can happen), ends the wait. */
#ifndef N
#define N 3
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef ROUNDS
#define ROUNDS 2
#endif
#define WAITED 8
#define HOLDER(x) ((x) & 7)

byte word;             /* holder 1..N, and WAITED */
byte asleep[N + 1];    /* 0, or the value of the word it sleeps on */
bool dead[N + 1];
bool inconsistent;     /* the state beside the word */
bool broken;           /* ghost: a holder died, and nobody has been told yet */
byte inside, deaths;

/* The kernel marks the alive word, and wakes one of those who sleep on it. */
inline die()
{
    d_step {
        deaths++;
        dead[id] = true;
        asleep[id] = 0;
        if
        :: HOLDER(word) == id -> broken = true
        :: else
        fi;
        in_section = false
    }
    if
    :: atomic { HOLDER(asleep[1]) == id -> asleep[1] = 0 }
    :: atomic { HOLDER(asleep[2]) == id -> asleep[2] = 0 }
    :: atomic { HOLDER(asleep[N]) == id -> asleep[N] = 0 }
    :: atomic { HOLDER(asleep[1]) != id && HOLDER(asleep[2]) != id && HOLDER(asleep[N]) != id -> skip }
    fi;
    goto over
}

#define MAY_DIE if :: deaths < DEATHS -> die() :: skip fi

inline exchange(from, to)
{
    d_step {
        done = (word == (from));
        if
        :: done -> word = (to)
        :: else
        fi
    }
}

inline wake_one()
{
    if
    :: atomic { asleep[1] != 0 -> asleep[1] = 0 }
    :: atomic { asleep[2] != 0 -> asleep[2] = 0 }
    :: atomic { asleep[N] != 0 -> asleep[N] = 0 }
    :: atomic { asleep[1] == 0 && asleep[2] == 0 && asleep[N] == 0 -> skip }
    fi
}

proctype locker(byte id)
{
    byte round, seen;
    bool done, told, in_section;
    for (round : 1 .. ROUNDS) {
        told = false;
        exchange(0, id);
        MAY_DIE;
        do
        :: done -> break
        :: else ->
            seen = word;
            MAY_DIE;
            if
            :: seen == 0 -> exchange(0, id + WAITED)
            :: seen != 0 && dead[HOLDER(seen)] ->
                exchange(seen, id + WAITED);
                told = done
            :: else ->
                done = true;
                if
                :: seen < WAITED ->
                    exchange(seen, seen + WAITED);
                    seen = seen + WAITED
                :: else
                fi;
                MAY_DIE;
                if
                :: done -> /* the kernel compares both words again */
                    d_step {
                        if
                        :: word == seen && !dead[HOLDER(seen)] -> asleep[id] = seen
                        :: else
                        fi;
                        done = false
                    }
#if DEATHS == 0
                    asleep[id] == 0
#else
                    if
                    :: asleep[id] == 0
                    :: atomic { timeout -> asleep[id] = 0 }
                    fi
#endif
                :: else
                fi
            fi;
            MAY_DIE
        od;
        if
        :: told -> inconsistent = true
        :: else -> told = inconsistent
        fi;
        MAY_DIE;
        d_step {
            assert(!broken || told);
            broken = false;
            assert(word == id || word == id + WAITED)
        }
        inside = inside + 1;
        in_section = true;
        assert(inside == 1);
        inside = inside - 1; /* it dies before or after this: who is dead is in no section */
        MAY_DIE;
        inconsistent = false; /* said consistent */
        MAY_DIE;
        d_step {
            seen = word;
            word = 0
        }
        in_section = false;
        MAY_DIE;
        if
        :: seen >= WAITED -> wake_one()
        :: else
        fi;
        MAY_DIE
    }
over:
    skip
}

init
{
    byte i;
    atomic {
        for (i : 1 .. N) {
            run locker(i)
        }
    }
}
