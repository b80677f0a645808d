/* usdumpsema: label, address, count, flags, meter, debug record and last history records, as far as there are any. */
#include "ulocks_test.h"

static char *text;

/* What is printed about it. */
static size_t dumped(usema_t *sema, const char *label)
{
	size_t size = 0;
	free(text);
	text = NULL;
	FILE *into = open_memstream(&text, &size);
	CHECK(into != NULL);
	CHECK(usdumpsema(sema, into, label) == 0);
	CHECK(fclose(into) == 0 && text != NULL && strlen(text) == size);
	return size;
}

/* Whether the number stands there by itself. */
static int says(const char *digits)
{
	for (const char *at = text; (at = strstr(at, digits)) != NULL; at++)
		if ((at == text || !strchr("0123456789abcdefx", at[-1])) && !strchr("0123456789abcdef", at[strlen(digits)]))
			return 1;
	return 0;
}

static void fails(usptr_t *arena)
{
	usema_t *freed = made(arena, 1);
	usfreesema(freed, arena);
	FAILS(usdumpsema(NULL, stdout, "none"), EINVAL);
	FAILS(usdumpsema(freed, stdout, "freed"), EINVAL);
	FAILS(usdumpsema((usema_t *)&arena, stdout, "none"), EINVAL);
}

int main(void)
{
	usptr_t *arena = joined("dumped");
	usema_t *sema = made(arena, 12345);
	char number[40];

	fails(arena);
	size_t plain = dumped(sema, "the label");
	CHECK(strstr(text, "the label") != NULL);
	snprintf(number, sizeof number, "%llx", (unsigned long long)(uintptr_t)sema);
	CHECK(strstr(text, number) != NULL);
	CHECK(says("12345"));
	CHECK(text[plain - 1] == '\n');

	CHECK(usctlsema(sema, CS_METERON) == 0);
	for (int time = 0; time < 4321; time++)
		CHECK(usvsema(sema) == 0);
	size_t metered = dumped(sema, "the label");
	CHECK(metered > plain && says("4321") && says("16666"));

	CHECK(usctlsema(sema, CS_DEBUGON) == 0);
	CHECK(uspsema(sema) == 1);
	size_t debugged = dumped(sema, "the label");
	snprintf(number, sizeof number, "%d", getpid());
	CHECK(debugged > metered && says(number));

	CHECK(usctlsema(sema, CS_HISTON) == 0 && usconfig(CONF_HISTON, arena) == 0);
	for (int time = 0; time < 10; time++)
		CHECK(usvsema(sema) == 0);
	CHECK(dumped(sema, "the label") > debugged);
	snprintf(number, sizeof number, "%d", ustestsema(sema) - 1); /* the last record but one */
	CHECK(says(number));
	dumped(sema, "");
	return 0;
}
