/* The picture that photo takes when it is given none: marbles on a chequered floor, at sunset.
 * It is traced ray by ray, so there is no file to look for, and nobody to ask for leave.
 *
 * Lengths are in marbles: the large ones have radius 1. x goes right, y up, z away. */
#include "marbles.h"

#include <math.h>
#include <stdlib.h>

enum { BOUNCES = 2 };
#define LIFT 1e-4 /* off a surface, which would meet a ray from itself */

struct vec {
	double x, y, z;
};

static const struct marble {
	struct vec center;
	double radius;
	struct vec colour;
	double mirror; /* how much of what it shows is a reflection */
} marbles[] = {
	{{-2.1, 1.0, 7.2}, 1.0, {0.90, 0.12, 0.10}, 0.25},
	{{0.0, 1.0, 8.4}, 1.0, {0.92, 0.94, 0.96}, 0.80},
	{{2.1, 1.0, 7.2}, 1.0, {0.10, 0.25, 0.85}, 0.25},
	{{-0.75, 0.45, 5.6}, 0.45, {0.98, 0.72, 0.10}, 0.20},
	{{0.85, 0.35, 5.2}, 0.35, {0.08, 0.60, 0.30}, 0.20},
};
enum { MARBLES = sizeof(marbles) / sizeof(*marbles) };

static const struct vec eye = {0, 1.9, -1.5}, sun = {-0.50, 0.42, -0.757};

static struct vec add(struct vec a, double scale, struct vec b)
{
	return (struct vec){a.x + scale * b.x, a.y + scale * b.y, a.z + scale * b.z};
}

static double dot(struct vec a, struct vec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static struct vec unit(struct vec a)
{
	return add((struct vec){0}, 1 / sqrt(dot(a, a)), a);
}

/* a at 0, b at 1 */
static struct vec mix(struct vec a, struct vec b, double at)
{
	return add(add((struct vec){0}, 1 - at, a), at, b);
}

static struct vec sky(struct vec ray)
{
	static const struct vec dusk = {0.98, 0.58, 0.36}, dark = {0.16, 0.22, 0.50};

	return mix(dusk, dark, sqrt(fmin(1, fmax(0, ray.y) * 1.6)));
}

/* The distance along a ray, or INFINITY. */
static double distance_to(const struct marble *marble, struct vec from, struct vec ray)
{
	struct vec to = add(marble->center, -1, from);
	double along = dot(to, ray);
	double depth = along * along - dot(to, to) + marble->radius * marble->radius;

	if (depth < 0 || along < sqrt(depth) + 1e-6)
		return INFINITY;
	return along - sqrt(depth);
}

static const struct marble *nearest(struct vec from, struct vec ray, double *distance)
{
	const struct marble *found = NULL;

	*distance = ray.y < 0 ? from.y / -ray.y : INFINITY; /* the floor's */
	for (int i = 0; i < MARBLES; i++) {
		double d = distance_to(&marbles[i], from, ray);
		if (d < *distance) {
			*distance = d;
			found = &marbles[i];
		}
	}
	return found;
}

static double sunlight(struct vec at, struct vec normal)
{
	double distance;

	return nearest(add(at, LIFT, normal), sun, &distance) ? 0 : fmax(0, dot(normal, sun));
}

static struct vec floor_colour(struct vec at)
{
	static const struct vec light = {0.93, 0.86, 0.74}, dark = {0.26, 0.20, 0.22};

	return ((int64_t)floor(at.x) + (int64_t)floor(at.z)) & 1 ? dark : light;
}

static struct vec trace(struct vec from, struct vec ray, int bounces)
{
	double distance;
	const struct marble *marble = nearest(from, ray, &distance);

	if (distance == INFINITY)
		return sky(ray);
	struct vec at = add(from, distance, ray), up = {0, 1, 0};
	struct vec normal = marble ? unit(add(at, -1, marble->center)) : up;
	struct vec colour = marble ? marble->colour : floor_colour(at);
	double sunny = sunlight(at, normal), light = 0.30 + 0.75 * sunny;
	double mirror = marble ? marble->mirror : 0.12;

	colour = mix((struct vec){0}, colour, light);
	if (bounces > 0) {
		struct vec back = add(ray, -2 * dot(ray, normal), normal);
		colour = mix(colour, trace(add(at, LIFT, normal), back, bounces - 1), mirror);
		if (marble && sunny > 0) /* a highlight */
			colour = mix(colour, (struct vec){1, 1, 1}, pow(fmax(0, dot(back, sun)), 60));
	}
	/* what is far away fades into the sky */
	return marble ? colour : mix(sky(ray), colour, exp(-distance / 40));
}

static uint8_t byte(double x)
{
	return (uint8_t)lrint(255 * fmin(1, fmax(0, x)));
}

bool marbles_paint(int64_t width, int64_t height, struct picture *ret)
{
	uint8_t *rgb = malloc((size_t)(width * height * 3));

	if (!rgb)
		return false;
	*ret = (struct picture){.width = width, .height = height, .rgb = rgb};
	for (int64_t y = 0; y < height; y++)
		for (int64_t x = 0; x < width; x++) {
			double right = (double)x + 0.5 - (double)width / 2;
			double up = 0.36 * (double)height - (double)y - 0.5;
			struct vec ray = {right, up, 1.35 * (double)width};
			struct vec colour = trace(eye, unit(ray), BOUNCES);
			*rgb++ = byte(colour.x);
			*rgb++ = byte(colour.y);
			*rgb++ = byte(colour.z);
		}
	return true;
}
