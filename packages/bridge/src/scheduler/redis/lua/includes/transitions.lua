--- @include "script"
-- Scripts that this one can run as functions, by name.
local transitions = {}
