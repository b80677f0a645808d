/* Processors: the number of a CPU, from 0. */
#ifndef TALLY_SYS_PROCESSOR_H
#define TALLY_SYS_PROCESSOR_H

typedef int processorid_t;

#endif
