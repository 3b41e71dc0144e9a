/* assert_between(value, low, high): that low <= value <= high, as signed numbers. cmocka's own
 * macro for that is another one in each of its versions. */
#ifndef BETWEEN_H
#define BETWEEN_H

#define assert_between(value, low, high) \
	do { \
		long long between_value = (long long)(value), between_low = (long long)(low), \
			  between_high = (long long)(high); \
		if (between_value < between_low || between_value > between_high) \
			fail_msg("%s is %lld, not %lld to %lld", #value, between_value, between_low, between_high); \
	} while (0)

#endif
