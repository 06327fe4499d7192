/** Small answers of our own in the shape of a registry of MCP servers. */
export const server = (
  name: string,
  official: Record<string, unknown> = {},
  over: Record<string, unknown> = {},
) => ({
  server: { name, description: 'x', version: '1.0.0', ...over },
  _meta: {
    'io.modelcontextprotocol.registry/official': {
      status: 'active',
      publishedAt: '2026-01-01T00:00:00Z',
      isLatest: true,
      ...official,
    },
  },
});

export const registryPage = (servers: readonly object[], nextCursor?: string) => ({
  servers,
  metadata: { count: servers.length, ...(nextCursor === undefined ? {} : { nextCursor }) },
});
