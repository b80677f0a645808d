/*
 * Processor sets: CPUs for the LWPs that are bound to them, and for no others. pset_create(2), pset_bind(2),
 * pset_info(2), pset_list(2), pset_getloadavg(3C).
 *
 * Every call returns 0 (pset_getloadavg: how many values) or -1 with errno, and has then changed nothing. Errors are
 * named in the order in which they are looked for.
 */
#ifndef TALLY_SYS_PSET_H
#define TALLY_SYS_PSET_H

#include <sys/processor.h>
#include <sys/procset.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef TALLY_UINT_T
#define TALLY_UINT_T
typedef unsigned int uint_t;
#endif

/* The id of a processor set, from 1. */
typedef int psetid_t;

#define PS_NONE -1  /* the default set, of all CPUs and LWPs that are in no other; as a binding: unbound */
#define PS_QUERY -2 /* change nothing */
#define PS_MYID -3  /* the caller's set; PS_NONE where it is unbound */

#define PS_PRIVATE 2 /* the type of every set that was created */

/* Makes a set without CPUs. EPERM, EFAULT, ENOMEM (as many as there may be). */
int pset_create(psetid_t *id);

/* Its LWPs become unbound, its CPUs go to the default set. EPERM, EINVAL (no such set, or the default one). */
int pset_destroy(psetid_t id);

/*
 * Moves a CPU to a set; PS_QUERY moves nothing. `old`, unless it is NULL, gets the set it was in.
 * EPERM (not for PS_QUERY), EINVAL (no such CPU, no such set), EFAULT, EBUSY (the last CPU of the default set, or of a
 * set with LWPs; or LWPs are bound to the CPU).
 */
int pset_assign(psetid_t id, processorid_t cpu, psetid_t *old);

/*
 * The type (PS_PRIVATE; PS_NONE for the default set) and the CPUs of a set. `count` says how many have room, and gets
 * how many there are. Each pointer may be NULL. EINVAL, EFAULT.
 */
int pset_info(psetid_t id, int *type, uint_t *count, processorid_t *cpus);

/* The ids of all sets but the default one, as far as they have room; `count` as above. EFAULT. */
int pset_list(psetid_t *ids, uint_t *count);

/*
 * Binds all LWPs that are named to a set, or none of them; PS_NONE unbinds, PS_QUERY changes nothing. `old`, unless it is
 * NULL, gets the binding of the LWP with the lowest id. P_PID, P_LWPID; with PS_NONE also P_ALL and P_PSETID.
 * EINVAL (no such set), EPERM, ESRCH, EINVAL (kind, id), EFAULT, EINVAL (a set without CPUs), EBUSY (one is bound to a CPU
 * outside the set).
 */
int pset_bind(psetid_t id, idtype_t kind, id_t who, psetid_t *old);

/*
 * The set's load averages over 1, 5 and 15 minutes, the first `count` of them. Returns how many were stored.
 * EINVAL (count < 0, no such set), EFAULT.
 */
int pset_getloadavg(psetid_t id, double averages[], int count);

#ifdef __cplusplus
}
#endif
#endif
