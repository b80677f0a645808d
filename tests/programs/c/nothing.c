/* Starts and ends: what `make bench` runs to see what that costs. */
int main(void)
{
	return 0;
}
