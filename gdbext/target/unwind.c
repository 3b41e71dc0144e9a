/* libunwind asks four things: memory, registers, and for a pc the unwind table of its module,
 * which it searches itself. The table is found from the module's ELF header in memory
 * (PT_GNU_EH_FRAME), so that stripped programs, and those whose files are gone, work.
 *
 * A damaged stack can lead anywhere. The number of frames is bounded, a frame's stack pointer
 * must lie above its callee's (or leave a signal handler's own stack), and what libunwind
 * itself makes of damaged tables is bounded by the limits of the process. */
#include "target/unwind.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

#if LB_HAVE_LIBUNWIND
#include <elfutils/libdwfl.h>
#include <libunwind.h>

/* On aarch64 libunwind means the return address by UNW_REG_IP. */
#if defined __aarch64__
enum { PC = UNW_AARCH64_PC };
#else
enum { PC = UNW_REG_IP };
#endif
enum { MAX_PHDRS = 256, HDR_UDATA4 = 0x03, HDR_TABLE = 0x3b, POINTER_FORM = 0x0f };

/* Exported by libunwind for debuggers, but declared nowhere. */
#define search_table UNW_OBJ(dwarf_search_unwind_table)
extern int search_table(unw_addr_space_t space, unw_word_t ip, unw_dyn_info_t *table, unw_proc_info_t *ret,
			int need_info, void *arg);

struct walk {
	struct lbx_target *target;
	Dwfl *dwfl;
	struct lbx_registers registers;
	bool guesses; /* a function without a table: libunwind then follows frame pointers */
};

/* Where the search table of the module that begins at `start` is. */
static bool find_header(struct walk *w, uint64_t start, uint64_t *ret)
{
	Elf64_Ehdr header;
	Elf64_Phdr p;
	uint64_t at = 0, first = UINT64_MAX;

	if (!lbx_target_try_read(w->target, start, &header, sizeof header) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof p)
		return false;
	for (int i = 0; i < header.e_phnum && i < MAX_PHDRS; i++) {
		if (!lbx_target_try_read(w->target, start + header.e_phoff + (uint64_t)i * sizeof p, &p, sizeof p))
			return false;
		if (p.p_type == PT_LOAD && p.p_vaddr < first)
			first = p.p_vaddr;
		if (p.p_type == PT_GNU_EH_FRAME)
			at = p.p_vaddr;
	}
	*ret = start - (first & ~4095ULL) + at;
	return at != 0 && first != UINT64_MAX;
}

static int find_table(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *ret, int need, void *arg)
{
	struct walk *w = arg;
	Dwfl_Module *module = dwfl_addrmodule(w->dwfl, ip);
	Dwarf_Addr start, end;
	uint64_t header;
	struct {
		uint8_t version, frame_form, count_form, table_form;
	} head;
	uint32_t count;

	if (!module || !dwfl_module_info(module, NULL, &start, &end, NULL, NULL, NULL, NULL) ||
	    !find_header(w, start, &header) || !lbx_target_try_read(w->target, header, &head, sizeof head))
		return -UNW_ENOINFO;
	bool wide = (head.frame_form & POINTER_FORM) == 4 || (head.frame_form & POINTER_FORM) == 0x0c;
	uint64_t at = header + sizeof head + (wide ? 8 : 4);
	if (head.version != 1 || head.count_form != HDR_UDATA4 || head.table_form != HDR_TABLE ||
	    !lbx_target_try_read(w->target, at, &count, sizeof count))
		return -UNW_ENOINFO;
	unw_dyn_info_t table = {
		.start_ip = start,
		.end_ip = end,
		.format = UNW_INFO_FORMAT_REMOTE_TABLE,
		.u.rti = { .segbase = header,
			   .table_data = at + sizeof count,
			   .table_len = (unw_word_t)count * 8 / sizeof(unw_word_t) },
	};
	return search_table(space, ip, &table, ret, need, arg);
}

static int find_proc_info(unw_addr_space_t space, unw_word_t ip, unw_proc_info_t *ret, int need, void *arg)
{
	int done = find_table(space, ip, ret, need, arg);

	if (done < 0)
		((struct walk *)arg)->guesses = true;
	return done;
}

static void put_unwind_info(unw_addr_space_t space, unw_proc_info_t *info, void *arg)
{
	(void)space;
	(void)info;
	(void)arg;
}

static int no_dynamic_info(unw_addr_space_t space, unw_word_t *ret, void *arg)
{
	(void)space;
	(void)ret;
	(void)arg;
	return -UNW_ENOINFO;
}

static int access_memory(unw_addr_space_t space, unw_word_t at, unw_word_t *value, int write, void *arg)
{
	(void)space;
	return !write && lbx_target_try_read(((struct walk *)arg)->target, at, value, sizeof *value) ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t n, unw_word_t *value, int write, void *arg)
{
	struct walk *w = arg;

	(void)space;
	if (write || n < 0)
		return -UNW_EREADONLYREG;
	if (n == PC)
		*value = w->registers.pc;
	else if (n < LBX_REGISTERS && (w->registers.known >> n & 1))
		*value = w->registers.r[n];
	else
		return -UNW_EBADREG;
	return 0;
}

static int no_float(unw_addr_space_t space, unw_regnum_t n, unw_fpreg_t *value, int write, void *arg)
{
	(void)space;
	(void)n;
	(void)value;
	(void)write;
	(void)arg;
	return -UNW_EBADREG;
}

static int no_resume(unw_addr_space_t space, unw_cursor_t *cursor, void *arg)
{
	(void)space;
	(void)cursor;
	(void)arg;
	return -UNW_EINVAL;
}

static void take_frame(const struct walk *w, unw_cursor_t *cursor, uint32_t known, bool after_call,
		       struct lbx_frame *ret)
{
	const struct lbx_machine *machine = w->registers.machine;
	unw_word_t value;

	*ret = (struct lbx_frame){ .after_call = after_call, .registers.machine = machine };
	if (unw_get_reg(cursor, after_call ? UNW_REG_IP : PC, &value) == 0)
		ret->pc = value;
	for (int i = 0; i < machine->n; i++) {
		if (!(known >> i & 1) || unw_get_reg(cursor, i, &value) != 0)
			continue;
		ret->registers.r[i] = value;
		ret->registers.known |= 1u << i;
	}
	ret->registers.pc = ret->pc;
}

enum { SEEN = 64 };

/* The frames of a stack, of which the last `tail` go round in their part of the list once it is full. */
struct list {
	struct lbx_stack *stack;
	int max, tail;
	uint64_t total;
	bool various; /* what is left out has more pcs than are told */
	struct lbx_lines *lines;
	struct {
		uint64_t pc;
		unsigned frames; /* 0: not asked yet */
	} seen[SEEN]; /* by hash; a collision replaces */
};

/* How many frames are shown for one: those of inlined functions have numbers, too. */
static unsigned frames_at(struct list *list, uint64_t pc)
{
	unsigned slot = (unsigned)(pc ^ pc >> 6) % SEEN;

	if (list->seen[slot].frames == 0 || list->seen[slot].pc != pc) {
		list->seen[slot].pc = pc;
		list->seen[slot].frames = 1 + (unsigned)lbx_lines_inlined(list->lines, pc);
	}
	return list->seen[slot].frames;
}

static struct lbx_frame *place(const struct list *list, uint64_t i)
{
	uint64_t head = (uint64_t)(list->max - list->tail);
	return &list->stack->frames[i < head ? i : head + (i - head) % (uint64_t)list->tail];
}

static void leave_out(struct list *list, uint64_t pc)
{
	struct lbx_stack *stack = list->stack;

	stack->left_out += frames_at(list, pc);
	for (int i = 0; i < stack->n_repeated; i++)
		if (stack->repeated[i] == pc)
			return;
	if (stack->n_repeated < LBX_REPEATED)
		stack->repeated[stack->n_repeated++] = pc;
	else
		list->various = true;
}

/* False where no more are wanted. */
static bool put(struct list *list, const struct lbx_frame *frame)
{
	if (list->total == (uint64_t)list->max && list->tail == 0) {
		list->stack->cut = true;
		return false;
	}
	if (list->total == LBX_FRAMES_WALKED) {
		snprintf(list->stack->end, sizeof list->stack->end, "the stack goes on: only %d frames were followed",
			 LBX_FRAMES_WALKED);
		return false;
	}
	struct lbx_frame *to = place(list, list->total);
	if (list->total >= (uint64_t)list->max)
		leave_out(list, lbx_frame_code(to));
	*to = *frame;
	list->total++;
	return true;
}

static void reverse(struct lbx_frame *frames, int n)
{
	for (int i = 0; i < n / 2; i++) {
		struct lbx_frame other = frames[i];
		frames[i] = frames[n - 1 - i];
		frames[n - 1 - i] = other;
	}
}

/* Turns the tail round, so that it begins with its innermost frame. */
static void close_list(struct list *list)
{
	struct lbx_stack *stack = list->stack;
	int head = list->max - list->tail;

	stack->n = list->total < (uint64_t)list->max ? (int)list->total : list->max;
	if (stack->left_out == 0)
		return;
	int first = (int)((list->total - (uint64_t)list->max) % (uint64_t)list->tail);
	reverse(stack->frames + head, first);
	reverse(stack->frames + head + first, list->tail - first);
	reverse(stack->frames + head, list->tail);
	stack->gap = head;
	if (list->various)
		stack->n_repeated = 0;
}

/* From code without unwind tables libunwind guesses by the frame pointer: what that leads to is a frame where there is
 * code. */
static bool is_wild(struct list *list, const struct lbx_frame *frame)
{
	const struct lbx_frame *callee = list->total ? place(list, list->total - 1) : NULL;

	return callee && !lbx_lines_known(list->lines, lbx_frame_code(frame)) &&
	       !lbx_unwind_has_rules(list->lines, lbx_frame_code(callee));
}

static bool step_all(struct walk *w, unw_cursor_t *cursor, bool after_call, struct list *list)
{
	const struct lbx_machine *machine = w->registers.machine;
	struct lbx_stack *ret = list->stack;
	uint32_t known = w->registers.known;

	for (;;) {
		struct lbx_frame frame;
		take_frame(w, cursor, known, after_call, &frame);
		if (frame.pc == 0 || is_wild(list, &frame))
			return list->total > 0;
		if (list->total > 0) {
			/* on this machine a frame's CFA is its caller's stack pointer, so that the
			 * last frame wanted needs one more step */
			uint64_t sp = frame.registers.r[machine->stack_pointer];
			struct lbx_frame *callee = place(list, list->total - 1);
			callee->cfa = sp;
			if (sp <= callee->registers.r[machine->stack_pointer] && after_call) {
				ret->damaged = true;
				snprintf(ret->end, sizeof ret->end, "the stack is damaged: it leads back to 0x%llx",
					 (unsigned long long)sp);
				return false;
			}
		}
		if (!put(list, &frame))
			return true;
		bool of_handler = unw_is_signal_frame(cursor) > 0;
		int stepped = unw_step(cursor);
		if (stepped == 0)
			return true;
		if (stepped < 0) {
			snprintf(ret->end, sizeof ret->end, "cannot find the caller: %s", unw_strerror(stepped));
			return false;
		}
		/* A signal handler's caller was interrupted anywhere, with all its registers saved. On x86-64 libunwind says
		 * it of that frame, elsewhere of the one before. */
		bool signal = machine->elf == EM_X86_64 ? unw_is_signal_frame(cursor) > 0 : of_handler;
		after_call = !signal;
		known = signal ? w->registers.known : known & machine->preserved;
	}
}

bool lbx_unwind(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_registers *registers,
		bool after_call, int max, int tail, struct lbx_stack *ret)
{
	static unw_accessors_t accessors = {
		.find_proc_info = find_proc_info,
		.put_unwind_info = put_unwind_info,
		.get_dyn_info_list_addr = no_dynamic_info,
		.access_mem = access_memory,
		.access_reg = access_register,
		.access_fpreg = no_float,
		.resume = no_resume,
	};
	struct walk w = { .target = target, .dwfl = lbx_lines_dwfl(lines), .registers = *registers };
	unw_cursor_t cursor;
	bool whole = false;

	struct list list = { .stack = ret, .max = max, .tail = tail, .lines = lines };
	*ret = (struct lbx_stack){ .frames = ret->frames };
	bool own = registers->machine && registers->machine->elf == LBX_MACHINE;
	unw_addr_space_t space = own && w.dwfl ? unw_create_addr_space(&accessors, 0) : NULL;
	if (space)
		unw_set_caching_policy(space, UNW_CACHE_GLOBAL); /* recursion asks the same again and again */
	if (space && unw_init_remote(&cursor, space, &w) == 0) {
		whole = step_all(&w, &cursor, after_call, &list) && !w.guesses;
		close_list(&list);
	}
	if (space)
		unw_destroy_addr_space(space);
	if (ret->n == 0) {
		ret->frames[ret->n] = (struct lbx_frame){
			.level = ret->n, .pc = registers->pc, .after_call = after_call, .registers = *registers
		};
		ret->n++;
		snprintf(ret->end, sizeof ret->end,
			 own ? "the loaded modules are not known" : "the machine is of another kind");
	}
	return whole;
}

#else

bool lbx_unwind(struct lbx_target *target, struct lbx_lines *lines, const struct lbx_registers *registers,
		bool after_call, int max, int tail, struct lbx_stack *ret)
{
	(void)target;
	(void)lines;
	(void)max;
	(void)tail;
	*ret = (struct lbx_stack){ .frames = ret->frames, .n = 1 };
	ret->frames[0] = (struct lbx_frame){ .pc = registers->pc, .after_call = after_call, .registers = *registers };
	snprintf(ret->end, sizeof ret->end, "this reader was built without libunwind");
	return false;
}

#endif
