-- A session of Neovim's own LSP client: attaches the server to the file, reads what it is told, applies a code
-- action, and writes what it saw to a file. Started by neovim.test.ts, which passes everything in the environment.

local seen = { logs = {} }

local function finish()
  local file = assert(io.open(vim.env.PLIMSOLL_RESULT, 'w'))
  file:write(vim.json.encode(seen))
  file:close()
  vim.cmd('qall!')
end

local function main()
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.env.PLIMSOLL_FILE))
  local buffer = vim.api.nvim_get_current_buf()
  vim.lsp.handlers['window/logMessage'] = function(_, params)
    table.insert(seen.logs, params.message)
  end
  local client = vim.lsp.start_client({
    name = 'plimsoll',
    cmd = { vim.env.PLIMSOLL_NODE, vim.env.PLIMSOLL_SERVER, '--stdio' },
    root_dir = vim.env.PLIMSOLL_FOLDER,
    workspace_folders = { { uri = vim.uri_from_fname(vim.env.PLIMSOLL_FOLDER), name = 'ws' } },
  })
  assert(client, 'the server did not start')
  vim.lsp.buf_attach_client(buffer, client)

  local function find(rule)
    for _, each in ipairs(vim.diagnostic.get(buffer)) do
      if each.code == rule then return each end
    end
  end
  local function until_true(what, condition)
    if not vim.wait(15000, condition, 10) then error('waited in vain until ' .. what) end
  end

  until_true('the finding is shown', function() return find(vim.env.PLIMSOLL_RULE) ~= nil end)
  seen.diagnostics = vim.diagnostic.get(buffer)
  until_true('a file that is not open is judged', function()
    local other = vim.fn.bufnr(vim.env.PLIMSOLL_OTHER)
    return other ~= -1 and #vim.diagnostic.get(other) > 0
  end)

  local place = find(vim.env.PLIMSOLL_RULE)
  vim.api.nvim_win_set_cursor(0, { place.lnum + 1, place.col })
  local hover = vim.lsp.buf_request_sync(
    buffer, 'textDocument/hover', vim.lsp.util.make_position_params(0, 'utf-16'), 15000)
  seen.hover = hover[client].result

  local params = vim.lsp.util.make_range_params(0, 'utf-16')
  params.context = { diagnostics = vim.lsp.diagnostic.get_line_diagnostics(buffer, place.lnum, {}, client) }
  local answers = vim.lsp.buf_request_sync(buffer, 'textDocument/codeAction', params, 15000)
  seen.titles = {}
  for _, action in ipairs(answers[client].result) do
    table.insert(seen.titles, action.title)
    if action.title == vim.env.PLIMSOLL_ACTION then
      vim.lsp.util.apply_workspace_edit(action.edit, 'utf-16')
    end
  end
  seen.text = table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n') .. '\n'
  until_true('the finding is gone', function() return find(vim.env.PLIMSOLL_RULE) == nil end)

  vim.lsp.stop_client(client)
  until_true('the server has ended', function() return vim.lsp.client_is_stopped(client) end)
end

local ok, problem = pcall(main)
if not ok then seen.problem = tostring(problem) end
finish()
