/** Port of health and metrics outside of development, where nothing else is set. */
export const DEFAULT_OPS_PORT = 9_464;
