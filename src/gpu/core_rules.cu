// The rules of src/core as device code. No executor uses them yet; this file keeps them compiling under nvcc.

#include "core/alias.hpp"
#include "core/floyd.hpp"
#include "core/its.hpp"
#include "core/labels.hpp"
#include "core/node2vec.hpp"
#include "core/race.hpp"
