//! What the guest tests share.
