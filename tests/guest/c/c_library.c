/* The C library does its daily work: formatting, memory, numbers, strings, sorting, time, threads. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

static void formatting(void)
{
	char text[128];
	CHECK(snprintf(text, sizeof text, "%5d|%-4s|%#x|%.3f|%lld|%c", 42, "ab", 255, 3.14159, 1LL << 40, 'z') == 37);
	CHECK(strcmp(text, "   42|ab  |0xff|3.142|1099511627776|z") == 0);
	CHECK(printf("printed\n") == 8);
	CHECK(fflush(stdout) == 0);
	double number;
	int taken;
	CHECK(sscanf("2.5e3 rest", "%lf%n", &number, &taken) == 1 && number == 2500 && taken == 5);
}

static void numbers(void)
{
	char *end;
	CHECK(strtod("0x1.8p3xyz", &end) == 12 && strcmp(end, "xyz") == 0);
	CHECK(strtod("1e-320", NULL) > 0); /* a denormal number */
	CHECK(strtol("-7f", &end, 16) == -0x7f && *end == 0);
	CHECK(fabs(sin(1) - 0.8414709848078965) < 1e-15 && sqrt(2) * sqrt(2) - 2 < 1e-15);
	CHECK(sizeof(long double) == 16 && sqrtl(2.25L) == 1.5L);
}

static void memory(void)
{
	enum { BLOCKS = 300 };
	unsigned char *blocks[BLOCKS];
	for (int i = 0; i < BLOCKS; i++) {
		blocks[i] = malloc((size_t)1 << i % 20);
		CHECK(blocks[i] && (uintptr_t)blocks[i] % 16 == 0);
		memset(blocks[i], i, (size_t)1 << i % 20);
	}
	for (int i = 0; i < BLOCKS; i++) {
		size_t size = (size_t)1 << i % 20;
		CHECK(blocks[i][0] == (unsigned char)i && blocks[i][size - 1] == (unsigned char)i);
		blocks[i] = realloc(blocks[i], 2 * size);
		CHECK(blocks[i] && blocks[i][size - 1] == (unsigned char)i);
		free(blocks[i]);
	}
	unsigned char *zeros = calloc(1000, 1000);
	for (int i = 0; i < 1000000; i++)
		CHECK(zeros[i] == 0);
	free(zeros);
	CHECK(malloc((size_t)1 << 50) == NULL);
}

static int ascending(const void *one, const void *other)
{
	return *(const int *)one - *(const int *)other;
}

static void sorting(void)
{
	int values[10000];
	for (int i = 0; i < 10000; i++)
		values[i] = i * 7919 % 10007;
	qsort(values, 10000, sizeof *values, ascending);
	for (int i = 1; i < 10000; i++)
		CHECK(values[i - 1] <= values[i]);
}

static void times(void)
{
	struct timespec start, end, length = {0, 5000000};
	CHECK(clock_gettime(CLOCK_MONOTONIC, &start) == 0);
	CHECK(nanosleep(&length, NULL) == 0);
	CHECK(clock_gettime(CLOCK_MONOTONIC, &end) == 0);
	CHECK((end.tv_sec - start.tv_sec) * 1000000000LL + end.tv_nsec - start.tv_nsec >= 5000000);
	CHECK(clock() != (clock_t)-1);
	CHECK(time(NULL) > 1577836800); /* 2020 */
}

static int total;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *adder(void *amount)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		total += (int)(intptr_t)amount;
		pthread_mutex_unlock(&lock);
	}
	return amount;
}

static void threads(void)
{
	pthread_t all[8];
	void *result;
	for (intptr_t i = 0; i < 8; i++)
		CHECK(pthread_create(&all[i], NULL, adder, (void *)i) == 0);
	for (intptr_t i = 0; i < 8; i++)
		CHECK(pthread_join(all[i], &result) == 0 && (intptr_t)result == i);
	CHECK(total == 28000);
}

int main(int argc, char *argv[])
{
	CHECK(argc >= 1 && argv[0][0] != 0 && argv[argc] == NULL);
	formatting();
	numbers();
	memory();
	sorting();
	times();
	threads();
	return 0;
}
