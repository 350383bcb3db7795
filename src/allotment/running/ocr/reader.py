"""The recogniser: finds the lines of text on a page and reads them, with RapidOCR's weights on ONNX Runtime.

Source: RapidOCR 3.10 (its calls, `config.yaml`, and the weights PP-OCRv6 in its wheel). The paths of the
weights are given, so that nothing is ever looked up or fetched over the network. Finding lines is done on a
page made no larger than needed; reading is done line by line on the page as it is, so that small writing on
a large scan keeps its detail, and a line's result does not depend on its neighbours.

RapidOCR's own word boxes take a letter's confidence for a word's, so words are placed here, from the
columns in which the recogniser saw each letter.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allotment import install_command
from allotment.running.ocr.order import between
from allotment.running.ocr.text import Line, Quad, Word, clean

if TYPE_CHECKING:
    from PIL.Image import Image

LINE_HEIGHT = 48  # what the recogniser was made for
LONGEST_LINE = 2400  # in the same measure; longer ones are squeezed
SHORT_SIDE = 736  # pages are made larger up to this before lines are looked for
NO_LIMIT = 1_000_000  # sizes are decided here
STANDING = 1.5  # a piece this many times as high as wide may be writing that was turned


class ReaderMissingError(Exception):
    """The libraries or their weights are not there; says how to get them."""


class Reader:
    """Reads lines of text off images; made once, for it loads its weights."""

    def __init__(self, *, threads: int, longest_side: int) -> None:
        with _without_warnings():
            self._cv2, self._numpy, rapidocr = _libraries()
            self._cv2.setNumThreads(threads)
            weights = Path(rapidocr.__file__).parent / "models"
            self._engine: Any = rapidocr.RapidOCR(
                params={
                    "Global.log_level": "error",
                    "Global.use_preprocess_img": False,
                    "Det.limit_type": "max",
                    "Det.limit_side_len": NO_LIMIT,
                    "EngineConfig.onnxruntime.intra_op_num_threads": threads,
                    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                    "Det.model_path": _only(weights, "*_det_*.onnx"),
                    "Rec.model_path": _only(weights, "*_rec_*.onnx"),
                }
            )
        self._longest_side = longest_side
        blank = self._numpy.full((LINE_HEIGHT, 2 * LINE_HEIGHT, 3), 255, self._numpy.uint8)
        self._find(blank)
        self._recognise(blank)

    def read(self, image: Image) -> list[Line]:
        """The lines on an RGB image, in no particular order, however unsure."""
        pixels = self._cv2.cvtColor(self._numpy.asarray(image), self._cv2.COLOR_RGB2BGR)
        pieces = self._pieces(pixels)
        tallest = 2 * _median([min(_width(piece), _height(piece)) for piece in pieces]) if pieces else 0
        lines = (self._read_piece(pixels, piece, tallest) for piece in pieces)
        return [line for line in lines if line is not None]

    def _pieces(self, pixels: Any) -> list[Quad]:
        """Where lines of text stand, found on the page at a size at which that works well."""
        height, width = pixels.shape[:2]
        larger = max(1.0, SHORT_SIDE / min(height, width))
        scale = min(larger, self._longest_side / max(height, width))
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        how = self._cv2.INTER_AREA if scale < 1.0 else self._cv2.INTER_CUBIC
        boxes = self._find(self._cv2.resize(pixels, size, interpolation=how))
        factors = (width / size[0], height / size[1])
        return [_quad([(x * factors[0], y * factors[1]) for x, y in box.tolist()]) for box in boxes]

    def _find(self, pixels: Any) -> Sequence[Any]:
        found = self._engine(pixels, use_det=True, use_cls=False, use_rec=False)
        return () if found.boxes is None else found.boxes

    def _recognise(self, pixels: Any) -> Any:
        return self._engine(pixels, use_det=False, use_cls=False, use_rec=True, return_word_box=True)

    def _read_piece(self, pixels: Any, piece: Quad, tallest: float) -> Line | None:
        """One piece as a line, or nothing when no letter is seen in it; of two ways to read it, the surer."""
        lines = (self._read_line(pixels, quad) for quad in _ways_to_read(piece, tallest))
        return max((line for line in lines if line), key=lambda line: line.confidence, default=None)

    def _read_line(self, pixels: Any, quad: Quad) -> Line | None:
        found = self._recognise(self._straight(pixels, quad))
        if not found.txts or not found.txts[0].strip() or found.word_results is None:
            return None
        words = _words(found.txts[0], found.word_results[0], quad)
        return Line(words=words, confidence=float(found.scores[0]), quad=quad) if words else None

    def _straight(self, pixels: Any, quad: Quad) -> Any:
        """The part of the page inside the corners, made straight and as high as the recogniser wants it."""
        cv2, numpy = self._cv2, self._numpy
        width, height = max(2, round(_width(quad))), max(2, round(_height(quad)))
        corners = numpy.array(quad, numpy.float32)
        straight = numpy.array([[0, 0], [width, 0], [width, height], [0, height]], numpy.float32)
        turn = cv2.getPerspectiveTransform(corners, straight)
        line = cv2.warpPerspective(
            pixels, turn, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REPLICATE
        )
        size = (min(LONGEST_LINE, max(LINE_HEIGHT // 3, round(LINE_HEIGHT * width / height))), LINE_HEIGHT)
        return cv2.resize(
            line, size, interpolation=cv2.INTER_AREA if height > LINE_HEIGHT else cv2.INTER_CUBIC
        )


def software() -> tuple[tuple[str, str], ...]:
    """What reads, with its version."""
    from importlib.metadata import version

    return (("RapidOCR", version("rapidocr")), ("ONNX Runtime", version("onnxruntime")))


def _libraries() -> tuple[Any, Any, Any]:
    try:
        import cv2
        import numpy
        import onnxruntime  # noqa: F401
        import rapidocr
    except ImportError as error:
        raise ReaderMissingError(
            f"reading text needs libraries that are not installed ({error}); "
            f"install them with: {install_command('ocr')}"
        ) from error
    return cv2, numpy, rapidocr


def _only(folder: Path, pattern: str) -> str:
    """The path of the one file with that name in the wheel's folder of weights."""
    found = sorted(folder.glob(pattern))
    if len(found) != 1:
        raise ReaderMissingError(
            f"{folder} has {len(found)} files {pattern} where one is needed; "
            f"install the library anew with: {install_command('ocr', anew=True)}"
        )
    return str(found[0])


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Keep the libraries' warnings, which nobody here can act on, out of the worker's log."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _quad(corners: Sequence[Sequence[float]]) -> Quad:
    first, second, third, fourth = ((float(x), float(y)) for x, y in corners)
    return (first, second, third, fourth)


def _width(quad: Quad) -> float:
    return max(math.dist(quad[0], quad[1]), math.dist(quad[3], quad[2]))


def _height(quad: Quad) -> float:
    return max(math.dist(quad[0], quad[3]), math.dist(quad[1], quad[2]))


def _ways_to_read(piece: Quad, tallest: float) -> tuple[Quad, ...]:
    """The corners from where reading starts: writing that stands on end may run upwards or downwards.

    A single narrow letter is no higher than others and stays upright.
    """
    if _height(piece) < STANDING * _width(piece) or _height(piece) <= tallest:
        return (piece,)
    first, second, third, fourth = piece
    return (fourth, first, second, third), (second, third, fourth, first)


def _words(text: str, seen: Any, quad: Quad) -> tuple[Word, ...]:
    """The words of a line, each with the mean of its letters' confidence, and where its letters were seen."""
    columns = list(itertools.chain.from_iterable(seen.word_cols))
    confidences = list(seen.confs)
    places = iter(columns)
    letters = [
        (letter, confidence, None if letter.isspace() else next(places, None))
        for letter, confidence in zip(text, confidences, strict=False)
    ]
    spans = _spans(letters)
    edges = _edges([(places[0], places[-1]) for _, _, places in spans], len(columns), seen.line_txt_len)
    words = []
    for (word, confidence, _), (start, end) in zip(spans, edges, strict=True):
        kept = clean(word)
        if kept:
            words.append(Word(kept, confidence, between(quad, start, end)))
    return tuple(words)


def _spans(letters: Sequence[tuple[str, float, int | None]]) -> list[tuple[str, float, list[int]]]:
    """Letters grouped at spaces: the word, its mean confidence, the columns of its letters."""
    spans = []
    for is_space, group in itertools.groupby(letters, key=lambda letter: letter[2] is None):
        if is_space:
            continue
        members = list(group)
        confidence = sum(letter[1] for letter in members) / len(members)
        columns = [letter[2] for letter in members if letter[2] is not None]
        spans.append(("".join(letter[0] for letter in members), confidence, columns))
    return spans


def _edges(columns: Sequence[tuple[int, int]], letters: int, length: float) -> list[tuple[float, float]]:
    """Where words start and end, as fractions of the line, from their first and last letters' columns.

    A letter is seen in the middle of its column and reaches a little over half a letter to both sides, but
    not over the middle between two words.
    """
    length = max(length, 1.0)
    half = 0.6 * length / max(letters + len(columns) - 1, 1)
    edges = []
    for index, (first, last) in enumerate(columns):
        start, end = first + 0.5 - half, last + 0.5 + half
        if index:
            start = max(start, (columns[index - 1][1] + first) / 2 + 0.5)
        if index + 1 < len(columns):
            end = min(end, (last + columns[index + 1][0]) / 2 + 0.5)
        edges.append((min(max(start / length, 0.0), 1.0), min(max(end / length, 0.0), 1.0)))
    return edges


def _median(values: Sequence[float]) -> float:
    return sorted(values)[len(values) // 2]
