#include "harness/voids.h"
