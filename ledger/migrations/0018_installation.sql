-- The installation that a database belongs to.

-- The environment that it was begun in, written by the first start and compared by every later one: a copy of a
-- database must not go on with another one's wallets and merchants.
CREATE TABLE hub.installation (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  environment text COLLATE "C" NOT NULL CHECK (environment IN ('development', 'staging', 'production')),
  since       timestamptz NOT NULL DEFAULT now()
);
CREATE TRIGGER installation_is_kept BEFORE UPDATE OR DELETE ON hub.installation FOR EACH ROW EXECUTE FUNCTION book.refuse_change();
