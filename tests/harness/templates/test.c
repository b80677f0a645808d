/* What is tested here, and where it is promised. The test passes where the program exits with 0. */

#include <stdio.h>

int main(void)
{
	int sum = 1 + 1;

	if (sum != 2) {
		printf("1 + 1: %d\n", sum);
		return 1;
	}
	return 0;
}
