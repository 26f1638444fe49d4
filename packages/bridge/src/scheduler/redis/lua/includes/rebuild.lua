--- @include "start"
-- Looks at every line anew. Needed only where something runs that did not start by the rule (a worker says what
-- it holds), or where groups have other members (capacities changed).
function store.rebuild()
  for _, prefix in ipairs({ 'b|', 'r|', 'H|' }) do store.inChunks('ZREM', indexKey, store.within(prefix)) end
  local lines = {}
  for _, member in ipairs(store.within('X|')) do lines[string.match(member, '^(X|[^|]*|)')] = true end
  for _, member in ipairs(store.within('s|')) do lines[string.match(member, '^(s|[^|]*|%a|[^|]*|)')] = true end
  for line in pairs(lines) do store.evaluate(line) end
end
