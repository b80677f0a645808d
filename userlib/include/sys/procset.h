/* Which LWPs a call is about: a kind, and an id of that kind. P_ALL and P_PID are those of <sys/wait.h>. */
#ifndef TALLY_SYS_PROCSET_H
#define TALLY_SYS_PROCSET_H

#include <sys/types.h>
#include <sys/wait.h>

#define P_LWPID ((idtype_t)8)   /* one LWP, by its tid */
#define P_PSETID ((idtype_t)15) /* those that are bound to a processor set */

#define P_MYID ((id_t)-1) /* the caller's own id of that kind */

#endif
