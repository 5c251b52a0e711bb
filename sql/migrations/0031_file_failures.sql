-- A file that was taken up by a process that was killed, or met a fault of ours, has not failed (R-A15).
comment on column stored_file.attempts is 'failures caused by its content or a bug since rows were last written; 10 end it, and the death of its parser counts 5';
