-- foretrain's filter for Slurm's client: at most three lines when a job is submitted, such as "2 of 4 GPUs on a node will idle".
--
-- Install: CliFilterPlugins=lua in slurm.conf, and this file as cli_filter.lua beside it. A site with a filter of its own calls
-- foretrain_lines(options) in its slurm_cli_pre_submit. Nothing is said, and the job goes on, where foretrain is missing, needs more than a
-- second, or fails. Test: tests/jobs/submit_filters.py.

-- The site's settings.
local foretrain = {
  program = "foretrain", -- or its full path
  cluster = "",          -- the site's cluster in foretrain's catalog, or a file; "": as the script says
  refuse = false,        -- true: a job that would not start is refused
  seconds = 1,           -- then foretrain is ended
}

local function quoted(text) return "'" .. tostring(text):gsub("'", "'\\''") .. "'" end

-- Numbers that nobody gave are -2, 0 and the like; "1-0" is one node.
local function option_text(name, value)
  if value == nil then return "" end
  local text = tostring(value):gsub("^gres:", ""):gsub("gres:", "")
  if name == "nodes" then text = text:gsub("%-0$", "") end
  if text == "" or text:match("^%-") or text == "0" or tonumber(text) ~= nil and tonumber(text) > 1000000 then return "" end
  if not text:match("^[%w%-_:,.%[%]]+$") then return "" end
  return " --" .. name .. "=" .. text
end

-- What sbatch will ask for, its own command line included.
local function asked(options)
  local out = ""
  for _, name in ipairs({ "partition", "nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "gres", "gpus", "gpus-per-node", "gpus-per-task",
                          "constraint" }) do
    out = out .. option_text(name, options[name])
  end
  return out
end

-- Global, so that another filter can call it. Gives the lines and whether the job would start.
function foretrain_lines(options)
  local lines, starts = {}, true
  local script = options["type"] == "sbatch" and options["argv"] and options["argv"][1]
  if not script then return lines, starts end
  local command = "timeout " .. foretrain.seconds .. " " .. quoted(foretrain.program) .. " job check " .. quoted(script) .. " --brief"
  local given = asked(options)
  if given ~= "" then command = command .. " --options=" .. quoted(given:sub(2)) end
  if foretrain.cluster ~= "" then command = command .. " --cluster " .. quoted(foretrain.cluster) end
  local pipe = io.popen(command .. " 2>/dev/null </dev/null; echo exit $?")
  if not pipe then return lines, starts end
  for line in pipe:lines() do
    if line:match("^foretrain: ") and #lines < 3 then lines[#lines + 1] = line end
    if line == "exit 1" and #lines > 0 then starts = false end
  end
  pipe:close()
  return lines, starts
end

function slurm_cli_setup_defaults(options, early_pass) return slurm.SUCCESS end

function slurm_cli_pre_submit(options, pack_offset)
  -- Whatever goes wrong here is no reason to keep a job from being submitted.
  local ok, lines, starts = pcall(foretrain_lines, options)
  if not ok then return slurm.SUCCESS end
  for _, line in ipairs(lines) do slurm.log_info("%s", line) end
  if foretrain.refuse and not starts then return slurm.ERROR end
  return slurm.SUCCESS
end

function slurm_cli_post_submit(pack_offset, job_id, step_id) return slurm.SUCCESS end
