from ultralytics import YOLO

model = YOLO("yolov8m.pt")
model.train(data="coco.yaml", batch=64, imgsz=1280, device=[0, 1], amp=False, optimizer="AdamW")
