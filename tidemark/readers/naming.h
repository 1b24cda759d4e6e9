// Errors that say which file they are about.
#pragma once

#include <string>
#include <utility>

#include "tidemark/engine/base/error.h"

namespace tidemark {

// What `work` returns; its errors name the file.
template <class Work>
auto naming(const std::string& path, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (const Error& error) {
    std::string where = error.where();
    if (where.empty()) where = path;
    else if (!where.starts_with(path)) where = path + ": " + where;
    throw Error(error.code(), error.message(), where, error.hint());
  }
}

}  // namespace tidemark
