/* Eight bytes a step by eight tables ("slicing by 8": Kounavis and Berry, 2005): the tables
 * make ZIP's checksum keep up with reading a disk. */
#include <pthread.h>
#include <string.h>

#include "io/zip.h"

static uint32_t tables[8][256];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		tables[0][i] = crc;
	}
	for (int k = 1; k < 8; k++) {
		for (int i = 0; i < 256; i++)
			tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
	}
}

uint32_t lb_crc32(uint32_t crc, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	pthread_once(&once, make_tables);
	crc = ~crc;
	for (; n >= 8; n -= 8, p += 8) {
		uint32_t low, high;
		memcpy(&low, p, sizeof low);
		memcpy(&high, p + 4, sizeof high);
		low ^= crc;
		crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^ tables[5][low >> 16 & 255] ^
		      tables[4][low >> 24] ^ tables[3][high & 255] ^ tables[2][high >> 8 & 255] ^
		      tables[1][high >> 16 & 255] ^ tables[0][high >> 24];
	}
	for (; n; n--, p++)
		crc = crc >> 8 ^ tables[0][(crc ^ *p) & 255];
	return ~crc;
}
