/* The places of the load averages: pset_getloadavg(3C) in <sys/pset.h>, getloadavg(3C). */
#ifndef TALLY_SYS_LOADAVG_H
#define TALLY_SYS_LOADAVG_H

#ifdef __cplusplus
extern "C" {
#endif

#define LOADAVG_1MIN 0
#define LOADAVG_5MIN 1
#define LOADAVG_15MIN 2
#define LOADAVG_NSTATS 3

/* Those of the whole machine; <stdlib.h> has it too. Returns how many were stored, or -1. */
int getloadavg(double averages[], int count);

#ifdef __cplusplus
}
#endif
#endif
