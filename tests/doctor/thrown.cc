// Exceptions of C++: caught, or not.
#include <stdexcept>
#include <vector>

extern "C" {
void play_uncaught_exception(bool sick);
void play_uncaught_in_handler(bool sick);
void play_uncaught_text(bool sick);
void play_left_noexcept(bool sick);
}

namespace
{
struct LoadError : std::runtime_error {
	using std::runtime_error::runtime_error;
};

__attribute__((noinline)) void load(bool fails, const char *file)
{
	if (fails)
		throw LoadError(std::string("no weights in ") + file);
}

/* One that was caught leaves its traces on the stack. */
void load_first()
{
	try {
		load(true, "first");
	} catch (const LoadError &) {
	}
}

void load_quietly(bool fails) noexcept
{
	load(fails, "a function that throws nothing");
}
} // namespace

void play_uncaught_exception(bool sick)
{
	load_first();
	load(sick, "model.safetensors");
}

void play_uncaught_in_handler(bool sick)
{
	try {
		load(true, "first");
	} catch (const LoadError &) {
		load(sick, "second");
	}
}

void play_uncaught_text(bool sick)
{
	if (sick)
		throw "plain text";
}

void play_left_noexcept(bool sick)
{
	load_quietly(sick);
}
