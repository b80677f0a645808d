/* What the next arena of this process will be like. */
#ifndef TALLY_USCONFIG_H
#define TALLY_USCONFIG_H

extern unsigned tally_arena_size, tally_arena_users;
extern int tally_arena_type;

/* CONF_HISTFETCH and CONF_HISTRESET. */
int tally_fetch_history(usptr_t *arena, histptr_t *history);
int tally_reset_history(usptr_t *arena);

#endif
