-- Ends of our transactions that a solid block shows and that the scan could not write, as another session
-- held their rows. The cursor moves on, so their blocks are read again; until then none of them may be
-- declared expired. No foreign key: its check would wait for the very row that is held.
CREATE TABLE book.late_outcome (
  outgoing_id text COLLATE "C" NOT NULL,
  number      integer NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  network     text COLLATE "C" NOT NULL,
  height      bigint NOT NULL,
  noted_at    timestamptz NOT NULL DEFAULT now(),
  -- when its block was last read again
  tried_at    timestamptz,
  PRIMARY KEY (outgoing_id, number, merchant_id)
);
CREATE INDEX late_outcome_of_network ON book.late_outcome (network, height);

-- Addresses that were paid while another session held their row of `sweep_address`: the scan notes them here
-- and goes on, and the planner's next look that finds the row free takes them over.
CREATE TABLE book.late_sweep_address (
  network     text COLLATE "C" NOT NULL,
  address     text COLLATE "C" NOT NULL,
  currency    text COLLATE "C" NOT NULL,
  merchant_id text COLLATE "C" NOT NULL,
  noted_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (network, address, currency)
);
