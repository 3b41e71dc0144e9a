/* The records of ZIP archives that .npz files are made of (PKWARE's APPNOTE.TXT 6.3.9, 4.3). */
#ifndef LB_IO_ZIP_H
#define LB_IO_ZIP_H

#include <stddef.h>
#include <stdint.h>

enum {
	LB_ZIP_LOCAL = 0x04034b50,
	LB_ZIP_CENTRAL = 0x02014b50,
	LB_ZIP_END = 0x06054b50,
	LB_ZIP_END64 = 0x06064b50,
	LB_ZIP_LOCATOR64 = 0x07064b50,
	LB_ZIP_EXTRA64 = 1,      /* id of the extra field with 64-bit sizes */
	LB_ZIP_PADDING = 0xd935, /* id of one that aligns what follows */
	LB_ZIP_STORED = 0,
	LB_ZIP_DEFLATED = 8,
	/* sizes of the fixed parts */
	LB_ZIP_LOCAL_BYTES = 30,
	LB_ZIP_END_BYTES = 22,
	LB_ZIP_LOCATOR64_BYTES = 20,
	LB_ZIP_COMMENT_MAX = 65535,
};

/* CRC-32 (ISO 3309) of n more bytes; start with 0. */
uint32_t lb_crc32(uint32_t crc, const void *bytes, size_t n);

#endif
