// SPDX-License-Identifier: Apache-2.0
//! The face for Python: `ddu._packets`. Tables go over by the Arrow PyCapsule interface, without a copy.

use std::fs::File;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Mutex;

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, to_ffi};
use arrow_array::{Array, RecordBatch, StructArray};
use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::error::{CaptureError, Result};
use crate::reader::PacketReader;
use crate::sockets::Sockets;
use crate::split::{Split, Splitter};
use crate::wanted::Wanted;

create_exception!(
    _packets,
    PyCaptureError,
    PyValueError,
    "What is wrong with a capture, and at which byte."
);

impl From<CaptureError> for PyErr {
    fn from(error: CaptureError) -> Self {
        match error {
            CaptureError::Io(error) => error.into(),
            malformed => PyCaptureError::new_err(malformed.to_string()),
        }
    }
}

/// A table that `pyarrow.record_batch` takes over.
#[pyclass(frozen)]
struct Batch(RecordBatch);

#[pymethods]
impl Batch {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        let _ = requested_schema; // the interface allows to give what there is
        let (array, schema): (FFI_ArrowArray, FFI_ArrowSchema) =
            to_ffi(&StructArray::from(self.0.clone()).to_data())
                .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok((
            PyCapsule::new_with_value(py, schema, c"arrow_schema")?,
            PyCapsule::new_with_value(py, array, c"arrow_array")?,
        ))
    }
}

/// Reads packets; see `ddu.readers.packets`, the interface for everybody else.
#[pyclass(name = "PacketReader", frozen)]
struct PyPacketReader(Mutex<PacketReader>);

impl PyPacketReader {
    fn with<T: Send>(&self, py: Python, work: impl FnOnce(&mut PacketReader) -> T + Send) -> T {
        // A panic elsewhere would leave the reader between two packets, which harms nobody.
        py.detach(|| {
            work(
                &mut self
                    .0
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner()),
            )
        })
    }
}

#[pymethods]
impl PyPacketReader {
    #[new]
    fn new(path: PathBuf, columns: Option<Vec<String>>, batch_packets: usize) -> PyResult<Self> {
        let reader = PacketReader::new(File::open(path)?, columns, batch_packets)?;
        Ok(Self(Mutex::new(reader)))
    }

    fn next_batch(&self, py: Python) -> PyResult<Option<Batch>> {
        let batch: Result<_> = self.with(py, PacketReader::next_batch);
        Ok(batch?.map(Batch))
    }

    fn flows(&self, py: Python) -> Batch {
        Batch(self.with(py, PacketReader::flows))
    }

    #[getter]
    fn skipped_count(&self, py: Python) -> u64 {
        self.with(py, |reader| reader.skipped_count())
    }

    #[getter]
    fn truncated_at(&self, py: Python) -> Option<u64> {
        self.with(py, |reader| reader.truncated_at())
    }
}

/// Packets read between two looks for Ctrl-C.
const PACKETS_BETWEEN_SIGNALS: usize = 1 << 20;

/// Addresses and ports of one direction (None: any port), and whether to keep payload packets and ACKs.
type WantedTuple = (IpAddr, Option<u16>, IpAddr, Option<u16>, bool, bool);

/// A capture split into connections; see `ddu.readers.packets.split`.
#[pyclass(name = "Split", frozen)]
struct PySplit(Split);

#[pymethods]
impl PySplit {
    #[getter]
    fn flows(&self) -> Batch {
        Batch(self.0.flows.clone())
    }

    #[getter]
    fn packet_count(&self) -> u64 {
        self.0.packet_count
    }

    #[getter]
    fn truncated_at(&self) -> Option<u64> {
        self.0.truncated_at
    }

    /// Payload packets, ACKs, TSval and TSecr of a flow, and the origins of its two numbers; None: not wanted.
    fn connection(&self, flow: usize) -> Option<(Batch, Batch, Batch, Batch, u32, u32)> {
        let connection = self.0.connections.get(flow)?.clone()?;
        Some((
            Batch(connection.payload),
            Batch(connection.acks),
            Batch(connection.tsval),
            Batch(connection.tsecr),
            connection.origin,
            connection.ack_origin,
        ))
    }
}

/// Reads a whole capture and keeps the packets of the wanted connections.
#[pyfunction]
fn split(py: Python, path: PathBuf, wanted: Vec<WantedTuple>, mtu_bytes: u32) -> PyResult<PySplit> {
    let wanted = wanted
        .into_iter()
        .map(|(src, sport, dst, dport, payload, acks)| Wanted {
            src,
            sport,
            dst,
            dport,
            payload,
            acks,
        })
        .collect();
    let mut splitter = Splitter::new(File::open(path)?, wanted, mtu_bytes)?;
    while py.detach(|| splitter.read(PACKETS_BETWEEN_SIGNALS))? {
        py.check_signals()?;
    }
    Ok(PySplit(py.detach(|| splitter.finish())))
}

/// The socket samples of a file, and where it is cut off.
#[pyfunction]
fn read_sockets(py: Python, path: PathBuf) -> PyResult<(Batch, Option<u64>)> {
    let read = || -> Result<_> { Sockets::read(File::open(path)?) };
    let sockets = py.detach(read)?;
    let truncated_at = sockets.truncated_at();
    Ok((Batch(sockets.finish()), truncated_at))
}

/// An empty batch with all columns.
#[pyfunction]
fn no_packets() -> Batch {
    Batch(crate::reader::no_packets())
}

/// An empty table of flows.
#[pyfunction]
fn no_flows() -> Batch {
    Batch(crate::flows::Flows::default().table())
}

#[pymodule]
fn _packets(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("CaptureError", module.py().get_type::<PyCaptureError>())?;
    module.add_function(wrap_pyfunction!(no_packets, module)?)?;
    module.add_function(wrap_pyfunction!(read_sockets, module)?)?;
    module.add_function(wrap_pyfunction!(no_flows, module)?)?;
    module.add_function(wrap_pyfunction!(split, module)?)?;
    module.add_class::<Batch>()?;
    module.add_class::<PySplit>()?;
    module.add_class::<PyPacketReader>()
}
