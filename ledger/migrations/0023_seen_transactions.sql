-- The newest block that showed a transaction of the service while it may still vanish. It informs and ends nothing: what
-- is seen above the solid cursor is not sent again. What the cursor has passed without an outcome was taken back.
ALTER TABLE book.attempt ADD COLUMN seen_height bigint;
